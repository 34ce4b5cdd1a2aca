import type { NodeProcess } from '@halyard/testing';
import { type Fleet, FleetNode } from './fleet-node.ts';

/** The fault of the server: with frames once, at the tenth change of an environment that has a stream. */
export type Sickness =
  | 'none'
  | 'skips a frame'
  | 'repeats a frame'
  | 'swaps two frames'
  | 'mixes two revisions'
  | 'sends a frame of another environment'
  | 'forgets an acknowledged write'
  | 'leaves a stream without news'
  | 'keeps streams of revoked keys'
  | 'leaves a removal out of a change'
  | 'names a wrong revision in a change'
  | 'skips an event'
  | 'repeats an event'
  | 'answers a read from before its event'
  | 'refuses every second key'
  | 'refuses keys while there are writers';

type Flags = Record<string, unknown>;

interface Stream {
  readonly place: string;
  readonly key: string;
  readonly form: 'map' | 'change' | 'event';
  readonly controller: ReadableStreamDefaultController<Uint8Array>;
}

/**
 * A small server in memory that speaks as much of both interfaces as a campaign needs, well or sick. It shares no
 * line with the product: it exists to prove that a campaign would notice a server that breaks its promises.
 */
export class SickServer implements Disposable {
  readonly #sickness: Sickness;
  readonly #server: ReturnType<typeof Bun.serve>;
  readonly #logs = new Map<string, Flags[]>();
  readonly #projectOf = new Map<string, string>();
  readonly #revoked = new Set<string>();
  readonly #streams = new Set<Stream>();
  readonly #audit: { seq: number; environment: string; note: string }[] = [];
  /** The frame that will come one too late, and its environment. */
  #held: { readonly place: string; readonly send: () => void } | undefined;
  /** The environment that has seen the sickness. */
  #sickPlace: string | undefined;
  #isDone = false;
  #keys = 0;

  constructor(sickness: Sickness) {
    this.#sickness = sickness;
    this.#server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      idleTimeout: 0,
      fetch: (request) => this.#answer(request),
    });
  }

  /** Whether it has shown its sickness in an environment, and changed that again. */
  get isDone(): boolean {
    return this.#isDone;
  }

  /** A fleet of this one server. */
  get fleet(): Fleet {
    const nothing = async (): Promise<void> => undefined;
    const process: NodeProcess = {
      url: this.#server.url.origin,
      adminToken: 'any',
      pid: 0,
      dataFolder: '',
      exited: new Promise<number>(() => undefined),
      stop: async () => 0,
      kill: nothing,
      pause: () => undefined,
      resume: () => undefined,
      logs: () => '',
      readiness: nothing,
    };
    const node = new FleetNode('node-1', {}, async () => process);
    return { nodes: [node], adminToken: 'any', close: nothing };
  }

  [Symbol.dispose](): void {
    void this.#server.stop(true);
  }

  async #answer(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    const [, environmentInPath = '', ofrepPath] =
      /^\/environments\/([^/]+)\/ofrep\/v1\/(.+)$/.exec(pathname) ?? [];
    if (ofrepPath === 'stream')
      return this.#openStream('event', searchParams.get('ticket') ?? '', environmentInPath);
    if (ofrepPath !== undefined) return this.#readBulk(request, environmentInPath, searchParams);
    if (pathname.startsWith('/v1/')) return this.#evaluate(request, pathname, searchParams);
    if (pathname === '/api/audit') {
      const before = Number(searchParams.get('before') ?? Number.POSITIVE_INFINITY);
      const limit = Number(searchParams.get('limit'));
      return Response.json({
        entries: this.#audit
          .filter(({ seq }) => seq < before)
          .reverse()
          .slice(0, limit),
      });
    }
    const [, , noun, name = '', kind, environment, last, flag] = pathname.split('/');
    if (noun === 'keys') return this.#revoke(name);
    if (kind === undefined) return Response.json({}, { status: 201 });
    if (kind === 'keys') {
      this.#keys += 1;
      if (this.#refusesKey()) return Response.json({ error: 'internal_error' }, { status: 500 });
      const key = `key-${this.#keys}`;
      this.#projectOf.set(key, name);
      return Response.json({ id: key, key }, { status: 201 });
    }
    return await this.#manage(request, `${name}/${environment}`, last ?? '', flag);
  }

  #evaluate(request: Request, pathname: string, query: URLSearchParams): Response {
    const environment = query.get('env') ?? '';
    const key = request.headers.get('x-service-key') ?? '';
    if (this.#revoked.has(key)) return Response.json({ error: 'invalid_api_key' }, { status: 401 });
    const place = `${this.#projectOf.get(key)}/${environment}`;
    const headers = { 'x-flags-revision': String(this.#revision(place)) };
    if (pathname.startsWith('/v1/flags')) {
      return Response.json({ environment, flags: this.#log(place).at(-1) }, { headers });
    }
    return this.#openStream(query.has('changes') ? 'change' : 'map', key, environment);
  }

  /** The ticket of a stream is the key: secrets are not what this server is about. */
  #readBulk(request: Request, environment: string, query: URLSearchParams): Response {
    const key = request.headers.get('x-api-key') ?? '';
    if (this.#revoked.has(key)) return Response.json({ error: 'invalid_api_key' }, { status: 401 });
    const requestUri = `/environments/${environment}/ofrep/v1/stream?ticket=${key}`;
    const isLate = this.#sickness === 'answers a read from before its event' && query.has('flagConfigEtag');
    const revision = this.#revision(`${this.#projectOf.get(key)}/${environment}`) - (isLate ? 1 : 0);
    const headers = { 'x-flags-revision': String(revision) };
    return Response.json(
      { flags: [], eventStreams: [{ type: 'sse', endpoint: { requestUri } }] },
      { headers },
    );
  }

  #openStream(form: Stream['form'], key: string, environment: string): Response {
    if (this.#revoked.has(key)) return Response.json({ error: 'invalid_api_key' }, { status: 401 });
    const place = `${this.#projectOf.get(key)}/${environment}`;
    const headers = { 'x-flags-revision': String(this.#revision(place)) };
    let stream: Stream | undefined;
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        stream = { place, key, form, controller };
        this.#streams.add(stream);
        if (form === 'event') sendEvent(stream, this.#revision(place));
        else if (form === 'change')
          sendChange(stream, {
            from: null,
            to: this.#revision(place),
            set: this.#log(place).at(-1),
            removed: [],
          });
        else send(stream, this.#log(place).at(-1));
      },
      cancel: () => {
        if (stream !== undefined) this.#streams.delete(stream);
      },
    });
    return new Response(body, { headers: { ...headers, 'content-type': 'text/event-stream' } });
  }

  async #manage(request: Request, place: string, last: string, flag: string | undefined): Promise<Response> {
    if (request.method === 'GET') {
      const flags = Object.entries(this.#log(place).at(-1) ?? {}).map(([key, state]) => ({ key, state }));
      return Response.json({ environment: place, revision: this.#revision(place), flags });
    }
    if (request.headers.has('if-match')) return Response.json({}, { status: 412 });
    // The campaign's own writers are the only clients.
    const body = (await request.json()) as { changes: { key: string; state: unknown }[] };
    const changes = last === 'changes' ? body.changes : [{ key: flag ?? '', state: body as unknown }];
    const before = this.#log(place).at(-1) ?? {};
    const next: Flags = { ...before };
    for (const { key, state } of changes) {
      if (state === null) delete next[key];
      else next[key] = state;
    }
    this.#commit(place, before, next);
    const note = request.headers.get('x-change-note') ?? '';
    this.#audit.push({ seq: this.#audit.length + 1, environment: place, note });
    return Response.json({ revision: this.#revision(place), environmentRevision: this.#revision(place) });
  }

  #commit(place: string, before: Flags, next: Flags): void {
    this.#log(place).push(next);
    if (this.#sickPlace === place) this.#isDone = true;
    const here = [...this.#streams].filter((stream) => stream.place === place);
    const streams = here.filter(({ form }) => form === 'map');
    for (const stream of here) {
      if (stream.form === 'event') this.#sendEvent(stream);
      if (stream.form === 'change') this.#sendChange(stream, before, next);
    }
    const held = this.#held?.place === place ? this.#held : undefined;
    if (held !== undefined) this.#held = undefined;
    const isDue = this.#sickPlace === undefined && streams.length > 0 && this.#revision(place) >= 10;
    if (isDue && !/(an event|a change)$/.test(this.#sickness)) this.#sickPlace = place;
    for (const stream of streams) this.#send(stream, isDue && stream === streams[0], before, next);
    held?.send();
  }

  /** Sends one frame, or, where it is due, the sickness. */
  #send(stream: Stream, isDue: boolean, before: Flags, next: Flags): void {
    const sickness = isDue ? this.#sickness : 'none';
    if (sickness === 'skips a frame') return;
    if (sickness === 'leaves a stream without news') {
      this.#streams.delete(stream);
      return;
    }
    if (sickness === 'swaps two frames') {
      this.#held = { place: stream.place, send: () => send(stream, next) };
      return;
    }
    if (sickness === 'forgets an acknowledged write') this.#log(stream.place).pop();
    if (sickness === 'mixes two revisions') send(stream, { ...before, counter: next.counter, old: true });
    else if (sickness === 'sends a frame of another environment') send(stream, this.#foreign(stream.place));
    else send(stream, next);
    if (sickness === 'repeats a frame') send(stream, next);
  }

  /** Sends one change or, once, the sickness. */
  #sendChange(stream: Stream, before: Flags, next: Flags): void {
    const to = this.#revision(stream.place);
    const gone = Object.keys(before).filter((key) => !(key in next));
    const isDue = this.#sickPlace === undefined && to >= 10;
    const isIncomplete = isDue && this.#sickness === 'leaves a removal out of a change' && gone.length > 0;
    const isMisnamed = isDue && this.#sickness === 'names a wrong revision in a change';
    if (isIncomplete || isMisnamed) this.#sickPlace = stream.place;

    const set = Object.fromEntries(Object.entries(next).filter(([key, state]) => before[key] !== state));
    sendChange(stream, { from: isMisnamed ? to : to - 1, to, set, removed: isIncomplete ? [] : gone });
  }

  /** Sends one event or, once, the sickness. */
  #sendEvent(stream: Stream): void {
    const isDue = this.#sickPlace === undefined && this.#revision(stream.place) >= 10;
    const isSick = this.#sickness === 'skips an event' || this.#sickness === 'repeats an event';
    if (isDue && isSick) this.#sickPlace = stream.place;
    if (isDue && this.#sickness === 'skips an event') return;
    sendEvent(stream, this.#revision(stream.place));
    if (isDue && this.#sickness === 'repeats an event') sendEvent(stream, this.#revision(stream.place));
  }

  #foreign(place: string): Flags | undefined {
    return [...this.#logs].find(([name]) => name !== place)?.[1].at(-1);
  }

  #refusesKey(): boolean {
    if (this.#sickness === 'refuses every second key') return this.#keys % 2 === 1;
    return this.#sickness === 'refuses keys while there are writers' && this.#streams.size > 0;
  }

  #revoke(id: string): Response {
    this.#revoked.add(id);
    for (const stream of [...this.#streams]) {
      if (stream.key !== id || this.#sickness === 'keeps streams of revoked keys') continue;
      this.#streams.delete(stream);
      stream.controller.close();
    }
    return Response.json({});
  }

  #log(place: string): Flags[] {
    const log = this.#logs.get(place) ?? [{}];
    this.#logs.set(place, log);
    return log;
  }

  #revision(place: string): number {
    return this.#log(place).length - 1;
  }
}

function send(stream: Stream, flags: Flags | undefined): void {
  stream.controller.enqueue(new TextEncoder().encode(`data: ${JSON.stringify(flags)}\n\n`));
}

function sendChange({ controller }: Stream, change: object): void {
  controller.enqueue(new TextEncoder().encode(`event: change\ndata: ${JSON.stringify(change)}\n\n`));
}

function sendEvent({ controller }: Stream, revision: number): void {
  const data = { type: 'refetchEvaluation', etag: `"${revision}"` };
  controller.enqueue(new TextEncoder().encode(`id: ${revision}\ndata: ${JSON.stringify(data)}\n\n`));
}
