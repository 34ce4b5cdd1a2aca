/** How servers answer, well or badly: what scenarios put in the place of Halyard's answers. */
import { changeEvent, type MapChange } from '@halyard/protocol';
import type { Exchange } from './exchange.ts';
import type { Run } from './run.ts';
import { type Answer, ENVIRONMENT, type Flags } from './scenario.ts';

/** How often an open stream gets a comment. A client whose time is scaled needs them so often. */
const HEARTBEAT_MS = 100;

/**
 * Answers a stream as Halyard does: the map at once, a comment now and then, and each map that is published, in the form that
 * its reader asks for.
 */
export function serveStream(exchange: Exchange, run: Run): void {
  if (!isOurs(exchange, run)) return;
  const { flags, revision } = run;
  const asksForChanges = run.knowsChanges && exchange.request.query.get('changes') === '1';

  beginStream(exchange, run);
  if (asksForChanges && revision !== undefined)
    sendChange(exchange, { from: null, to: revision, set: flags });
  else exchange.write(frameOf(flags));
  keepAlive(exchange, run);
}

/** Sends the current map to an open stream: what differs if it is a stream of changes, otherwise the whole map. */
export function sendMap(exchange: Exchange, { flags, revision }: Run): void {
  const { held } = exchange;
  if (!held || revision === undefined) {
    exchange.write(frameOf(flags));
    return;
  }

  const set = Object.entries(flags).filter(([key, state]) => !Bun.deepEquals(state, held.flags[key]));
  const removed = Object.keys(held.flags).filter((key) => !Object.hasOwn(flags, key));
  sendChange(exchange, { from: held.revision, to: revision, set: Object.fromEntries(set), removed }, flags);
}

/** A change as scenarios write it: its states may be anything. */
type SentChange = Pick<MapChange, 'from' | 'to'> & {
  readonly set: Flags;
  readonly removed?: readonly string[];
};

/** Sends a change. `flags` is the map that its reader has afterwards. */
export function sendChange(exchange: Exchange, change: SentChange, flags = change.set): void {
  exchange.held = { revision: change.to, flags };
  exchange.write(changeOf(change));
}

/** An event of a change. */
export function changeOf({ set, removed = [], ...change }: SentChange): string {
  return changeEvent({ ...change, removed }, JSON.stringify(set));
}

/** Serves the next map, in which `a` is 2. */
export function serveNext(exchange: Exchange, run: Run): void {
  run.flags = { a: { enabled: true, value: 2 } };
  run.revision = 2;
  serveStream(exchange, run);
}

/** Sends comments on a stream, as signs of life. */
export function keepAlive(exchange: Exchange, run: Run): void {
  run.every(HEARTBEAT_MS, () => exchange.write(':\n\n'));
}

/** Answers the head of a stream, and nothing else. */
export function beginStream(
  exchange: Exchange,
  run: Run,
  headers: Readonly<Record<string, string>> = {},
): void {
  exchange.chunked(200, {
    'Content-Type': 'text/event-stream',
    ...revisionHeader(run),
    ...run.headers,
    ...headers,
  });
}

/** Answers a read of all flags as Halyard does, with an `ETag`. */
export function serveRest(exchange: Exchange, run: Run): void {
  if (!isOurs(exchange, run)) return;
  const etag = `"${run.revision ?? JSON.stringify(run.flags).length}"`;
  const headers = { ETag: etag, ...revisionHeader(run), ...run.headers };
  if (exchange.request.headers.get('if-none-match') === etag) exchange.answer(304, '', headers);
  else exchange.json(200, { environment: ENVIRONMENT, flags: run.flags }, headers);
}

/** An answer that gives each request of its way the next of `answers`, and the last one to all that follow. */
export function inTurn(...answers: readonly Answer[]): Answer {
  let count = 0;
  return (exchange, run) => answers[Math.min(count++, answers.length - 1)]?.(exchange, run);
}

/** Begins a stream with the current map, as older servers do, and leaves it without heartbeats. */
export function openSilently(exchange: Exchange, run: Run): void {
  beginStream(exchange, run);
  exchange.write(frameOf(run.flags));
}

/** Never answers. */
export function stall(): void {}

/** Resets the connection instead of answering. */
export function resetAnswer(exchange: Exchange): void {
  exchange.reset();
}

/** Refuses as a server that is busy, without saying for how long. */
export function refuseBusy(exchange: Exchange): void {
  exchange.refuse(503, 'internal_error');
}

/** Refuses as a server that wants to be left alone for an hour. */
export function refuseForAnHour(exchange: Exchange): void {
  exchange.refuse(503, 'internal_error', { 'Retry-After': '3600' });
}

/** Refuses the key. */
export function refuseKey(exchange: Exchange): void {
  exchange.refuse(401, 'invalid_api_key');
}

/** What is wrong unless the client asked for exactly so many streams. */
export function wrongStreams(run: Run, expected: number): readonly string[] {
  const count = run.count('/v1/stream');
  return count === expected ? [] : [`${count} streams were asked for`];
}

/** The gaps between one request for a path and the next, in milliseconds. */
export function gapsOf(run: Run, path: string): number[] {
  const times = run.requests.filter((request) => request.path === path).map(({ at }) => at);
  return times.slice(1).map((at, index) => at - (times[index] ?? 0));
}

/** Lets the flag `a` have another value at the next revision, which no open stream hears of. */
export function move(run: Run, value: number): void {
  run.flags = { ...run.flags, a: { enabled: true, value } };
  if (run.revision !== undefined) run.revision++;
}

/** Acts of a server that is away, and back. */
export const DOWN_AND_UP = {
  down: (run: Run) => run.down(),
  up: (run: Run) => run.up(),
} as const;

/** Waits until the client asks REST. */
export async function restAsked(run: Run): Promise<void> {
  await run.until('REST is asked', () => run.count('/v1/flags') > 0);
}

/** A frame of a map. */
export function frameOf(flags: unknown): string {
  return `data: ${JSON.stringify(flags)}\n\n`;
}

function revisionHeader({ revision }: Run): Readonly<Record<string, string>> {
  return revision === undefined ? {} : { 'X-Flags-Revision': String(revision) };
}

/** Whether the request has the run's key; refuses it otherwise. */
function isOurs(exchange: Exchange, run: Run): boolean {
  if (exchange.request.headers.get('x-service-key') === run.apiKey) return true;
  exchange.refuse(401, 'invalid_api_key');
  return false;
}
