import type { FlagState } from '@halyard/protocol';
import { createFlagsHandler, type FlagsHandler } from '../../src/handler.ts';
import { createTestClient } from '../../src/testing.ts';

/** What a test has opened. */
export const closers: (() => unknown)[] = [];

/** Closes what a test has opened; call it after each. */
export async function closeAll(): Promise<void> {
  for (const close of closers.splice(0)) await close();
}

/** The flags of {@link make} by default. */
export const FLAGS: Record<string, FlagState> = {
  plain: { enabled: true },
  text: { enabled: true, value: 'hello' },
  half: { enabled: true, rolloutPct: 50 },
  secret: { enabled: true, value: 'x' },
};

/** Makes a handler for flags in memory. */
export function make(options: Partial<Parameters<typeof createFlagsHandler>[0]> = {}, flags = FLAGS) {
  const client = createTestClient({ environment: 'production', flags });
  const handler = createFlagsHandler({ client, ...options });
  closers.push(() => handler.close());
  return { client, handler };
}

/** A request of a provider whose base address is `https://app.example/flags`. */
export function ask(path: string, context: unknown = {}, headers: Record<string, string> = {}) {
  return new Request(`https://app.example/flags${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json; charset=utf-8', ...headers },
    body: typeof context === 'string' ? context : JSON.stringify({ context }),
  });
}

/** The members of OFREP's bodies that tests look at one by one. */
interface Body {
  readonly flags: readonly { readonly key: string }[];
  readonly eventStreams: readonly [{ readonly endpoint: { readonly requestUri: string } }];
  readonly metadata?: object;
  readonly errorCode?: string;
  readonly errorDetails?: string;
}

/** The body of an answer of OFREP. */
export async function bodyOf(response: Response): Promise<Body> {
  return (await response.json()) as Body; // each test checks what it reads
}

/** The address of all flags, and of one below it. */
export const BULK = '/ofrep/v1/evaluate/flags';
/** The address of the event stream. */
export const EVENTS = '/ofrep/v1/stream';

/** A GET of the handler at `https://app.example/flags`. */
export const get = (path: string, init?: RequestInit) =>
  new Request(`https://app.example/flags${path}`, init);

/** Opens a stream and reads it piece by piece. */
export async function read(handler: FlagsHandler, request: Request) {
  const response = await handler(request);
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  const next = async () => {
    const piece = await reader?.read();
    return !piece || piece.done ? undefined : decoder.decode(piece.value);
  };
  return { response, next, cancel: async () => await reader?.cancel() };
}
