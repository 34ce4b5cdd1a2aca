import { CHANGES_QUERY } from '@halyard/protocol';
import {
  type CreatedKey,
  type FlagStateInput,
  Management,
  openSse,
  type RawAnswer,
  type SseReader,
  sendRaw,
} from '@halyard/testing';
import type { Subject } from './subject.ts';

/** The environments of a new project. */
export const ENVIRONMENTS = ['development', 'staging', 'production'] as const;

/** A project of a test's own, so that tests never see each other's flags, and what the tests do with it. */
export class World {
  readonly url: string;
  readonly adminToken: string;
  readonly management: Management;
  readonly project: string;
  /** A project key for all three environments. */
  readonly key: string;
  readonly keyId: string;

  /** Makes the project and a key. `flags` are written to `production`, as one change. */
  static async make(subject: Subject, flags: Readonly<Record<string, FlagStateInput>> = {}): Promise<World> {
    const management = new Management(subject);
    const project = `c-${crypto.randomUUID().slice(0, 18)}`;
    await management.createProject(project);
    const key = await management.createKey(project, ENVIRONMENTS);
    const world = new World(subject, management, project, key);
    const changes = Object.entries(flags).map(([flagKey, state]) => ({ key: flagKey, state }));
    if (changes.length > 0) await management.change(project, 'production', changes);
    return world;
  }

  constructor(subject: Subject, management: Management, project: string, key: CreatedKey) {
    this.url = subject.url;
    this.adminToken = subject.adminToken;
    this.management = management;
    this.project = project;
    this.key = key.key;
    this.keyId = key.id;
  }

  /** Sends a request with the project key. Headers given here win. */
  async fetch(path: string, init: BunFetchRequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    if (!headers.has('X-Service-Key')) headers.set('X-Service-Key', this.key);
    return await fetch(`${this.url}${path}`, { redirect: 'manual', ...init, headers });
  }

  /** Sends a batch read. A string or bytes go out as they are. */
  async batch(body: unknown, headers: Record<string, string> = {}): Promise<Response> {
    const raw = typeof body === 'string' || body instanceof Uint8Array;
    return await this.fetch('/v1/flags/batch', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      // A Uint8Array made by a test never sits on shared memory.
      body: raw ? (body as string | Uint8Array<ArrayBuffer>) : JSON.stringify(body),
    });
  }

  /** Sends a request byte for byte: the target is not touched, headers go out in order, also twice. */
  async raw(target: string, options: RawOptions = {}): Promise<RawAnswer> {
    const {
      method = 'GET',
      headers = [['X-Service-Key', this.key]],
      host = new URL(this.url).host,
    } = options;
    const lines = [['Host', host], ...headers, ['Connection', 'close']].map((pair) => pair.join(': '));
    const text = `${method} ${target} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`;
    const { answers } = await sendRaw(this.url, text, { answers: 1, timeoutMs: 30_000 });
    const [answer] = answers;
    if (answer === undefined) throw new Error(`no answer to ${method} ${target}`);
    return answer;
  }

  /** Opens the stream of an environment. */
  async stream(environment = 'production', key = this.key): Promise<SseReader> {
    return await this.#open(`env=${environment}`, key);
  }

  /** Opens the stream of changes of an environment. */
  async changes(environment = 'production', key = this.key): Promise<SseReader> {
    return await this.#open(`env=${environment}&${CHANGES_QUERY}`, key);
  }

  async #open(query: string, key: string): Promise<SseReader> {
    return await openSse(`${this.url}/v1/stream?${query}`, {
      headers: { 'X-Service-Key': key },
      timeoutMs: 30_000,
    });
  }

  /** Creates a key of `production` that expires then, in epoch milliseconds. */
  async createExpiringKey(expiresAt: number): Promise<string> {
    const options = { expiresAt: new Date(expiresAt).toISOString() };
    return (await this.management.createKey(this.project, ['production'], options)).key;
  }

  /** Writes a flag's state; returns the environment's revision afterwards. */
  async put(flagKey: string, state: FlagStateInput, environment = 'production'): Promise<number> {
    const written = await this.management.putState(this.project, environment, flagKey, state);
    return written.environmentRevision;
  }

  /** Writes a flag's state from JSON text, so that its notation is the test's. */
  async putText(flagKey: string, state: string, environment = 'production'): Promise<Response> {
    const path = `/api/projects/${this.project}/environments/${environment}/flags/${encodeURIComponent(flagKey)}`;
    return await this.manage('PUT', path, state);
  }

  /** Sends a management request whose answer is what is tested. A string goes out as it is. */
  async manage(
    method: string,
    path: string,
    body?: string | object,
    headers: Record<string, string> = {},
  ): Promise<Response> {
    return await fetch(`${this.url}${path}`, {
      method,
      headers: {
        Authorization: `Bearer ${this.adminToken}`,
        'Content-Type': 'application/json',
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  }

  /** The flag map of a whole-map read. */
  async flags(environment = 'production'): Promise<Record<string, FlagStateInput>> {
    const response = await this.fetch(`/v1/flags?env=${environment}`);
    // The shape is what S4.1 promises and its own test proves.
    const body = (await response.json()) as { flags: Record<string, FlagStateInput> };
    return body.flags;
  }
}

/** Details of a raw request. */
export interface RawOptions {
  readonly method?: string;
  readonly headers?: readonly (readonly [name: string, value: string])[];
  readonly host?: string;
}
