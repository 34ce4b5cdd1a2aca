import { defined } from '@halyard/protocol';
import type { Server } from 'bun';
import type { Logger } from 'pino';
import type { ChangePayload, Cursor, LogRow } from '../../domain/change-log.ts';
import type { DeliveryReport } from '../../domain/delivery.ts';
import { invalid, logIsLost, ServiceError } from '../../domain/errors.ts';
import { digestOf } from '../../domain/secret.ts';
import { errorResponse, refuseMethod } from '../../http/errors.ts';
import { STREAM_FIELDS } from '../../http/event-stream.ts';
import type { RouteAnswer, Routes } from '../../http/listener.ts';
import { bearerTokenIn, queryOf, requestIdOf } from '../../http/request.ts';
import type { ReadPlane, ReadPlaneObserver } from '../read-plane.ts';
import { type BacklogRow, EncodedRows, LogBacklog } from './backlog.ts';
import { busy, FollowerLimits, type FollowerLimitsOptions } from './follower-limits.ts';
import { FollowerStream } from './follower-stream.ts';
import { encodeMessage } from './framing.ts';
import {
  CLOCK_PATH,
  type EndReason,
  HEARTBEAT_MS,
  LOG_PATH,
  LOG_TYPE,
  LOG_VERSION,
  REPORTS_PATH,
} from './messages.ts';
import { ReportIntake, type ReportLimits } from './report-intake.ts';
import { contentsIn, type LogScope, scopeName, scopeOf } from './scope.ts';
import { behind, SharedHistory } from './shared-history.ts';
import { encodeSnapshot } from './snapshot-parts.ts';
import { TurnQueue } from './turn-queue.ts';

/** A follower that may have the log. */
export interface LogFollower {
  /** The public id of its token, or any name for a process of this machine. */
  readonly id: string;
  readonly scope: LogScope;
}

/** Parts of a {@link LogServer}. */
export interface LogServerOptions {
  readonly plane: ReadPlane;
  /** The follower behind a request. By default, the relay token of the request decides. */
  readonly authorize?: (request: Request) => LogFollower | undefined;
  /** Takes the reports of followers; never rejects. Without it they are dropped. */
  readonly onReport?: (report: DeliveryReport, dropped: number) => Promise<void>;
  readonly docsUrl: string;
  readonly log: Logger;
  /** Bytes of recent rows to keep; by default 16 MiB. */
  readonly backlogBytes?: number;
  readonly limits?: FollowerLimitsOptions;
  readonly reportLimits?: ReportLimits;
}

const BACKLOG_BYTES = 16 * 1024 * 1024;

/** Bytes of messages with recent rows, for followers that catch up together. */
const MESSAGES_BYTES = 4 * 1024 * 1024;

/** A heartbeat is sent after this time without one, in milliseconds: well before followers take silence for a loss. */
const QUIET_MS = 1.25 * HEARTBEAT_MS;

/** How long an unknown token waits for the proof that it does not exist, in milliseconds. */
const JUDGE_MS = 2000;

/**
 * Offers the log of a read plane to followers: relays over TCP, workers over a Unix socket. Everything comes from
 * memory, so a node without a database can offer it as well. Observes the plane: add it after the parts that readers
 * wait for.
 */
export class LogServer implements ReadPlaneObserver {
  readonly #options: LogServerOptions;
  readonly #limits: FollowerLimits;
  readonly #backlog: LogBacklog;
  readonly #history: SharedHistory;
  readonly #intake: ReportIntake;
  readonly #turns = new TurnQueue();
  readonly #timer: Timer;
  readonly #streams = new Map<FollowerStream, LogFollower>();
  /** Names of environments by id, also of one whose deletion is being applied. */
  readonly #names = new Map<string, string>();
  /** Resolves with the next proof. */
  #proof = Promise.withResolvers<void>();
  #provenAt = Number.NEGATIVE_INFINITY;
  #heartbeatAt = Number.NEGATIVE_INFINITY;
  readonly #messages = new EncodedRows(MESSAGES_BYTES);
  readonly #contacts = new Set<string>();
  #isDraining = false;

  constructor(options: LogServerOptions) {
    this.#options = options;
    const { plane, log } = options;
    this.#limits = new FollowerLimits(options.limits);
    this.#backlog = new LogBacklog(options.backlogBytes ?? BACKLOG_BYTES);
    this.#history = new SharedHistory({ plane, log, backlog: this.#backlog });
    this.#intake = new ReportIntake({ plane, limits: options.reportLimits });
    // Silence means that the connection is dead; how current this node is, the age in the heartbeat says.
    this.#timer = setInterval(() => this.#beatIfQuiet(), QUIET_MS / 5);
    this.#timer.unref();
  }

  /** The routes to serve, by path. */
  get routes(): Routes {
    return {
      [LOG_PATH]: this.#route('GET', (request, server) => this.#open(request, server)),
      [CLOCK_PATH]: this.#route('GET', (request) => this.#tellTime(request)),
      [REPORTS_PATH]: this.#route('POST', (request) => this.#takeReport(request)),
    };
  }

  /** How many followers are connected. */
  get followers(): number {
    return this.#streams.size;
  }

  /** The ids of followers that are or were connected since the last call. */
  takeContacts(): ReadonlySet<string> {
    for (const { id } of this.#streams.values()) this.#contacts.add(id);
    const contacts = new Set(this.#contacts);
    this.#contacts.clear();
    return contacts;
  }

  /** Entries of reports that were refused. */
  get refusedEntries(): number {
    return this.#intake.refused;
  }

  /** Bytes that recent rows take. */
  get backlogBytes(): number {
    return this.#backlog.bytes;
  }

  /** A snapshot replaced the catalog. */
  loaded(cursor: Cursor): void {
    this.#backlog.restart(this.#history.seal(cursor));
    this.#messages.clear();
    this.#learnNames();
  }

  /** A row was applied: it goes out to every follower. */
  applied(row: LogRow): void {
    const { environmentId } = row;
    if (row.kind === 'environment.created') this.#learnNames();
    const environmentName = environmentId === undefined ? undefined : this.#names.get(environmentId);
    const { cursor } = this.#options.plane.follower;
    const changeId = cursor === undefined ? row.changeId : this.#history.seal(cursor).changeId;
    this.#backlog.append({ row: { ...row, changeId }, environmentName });
    if (row.kind === 'environment.deleted' || row.kind === 'project.deleted') this.#learnNames();
    for (const stream of this.#streams.keys()) stream.wake();
    if (row.kind === 'relay.revoked')
      this.#revoke((JSON.parse(row.payload) as ChangePayload['relay.revoked']).id);
  }

  /** This node was proven current, and so are its followers: passed on at once, so that ages do not add up. */
  proven(): void {
    this.#proof.resolve();
    this.#proof = Promise.withResolvers();
    // A node that polls its database proves it more often than anyone needs to know, and a relay notes each proof twice. What
    // counts is how much newer a proof is: an old one that was sent again must not keep back the next.
    const provenAt = performance.now() - this.#options.plane.follower.sinceProofMs();
    if (provenAt - this.#provenAt < HEARTBEAT_MS / 2) return;
    this.#provenAt = provenAt;
    this.#beat();
    // Nothing that readers no longer need is kept.
    if (this.#streams.size === 0) this.#messages.clear();
  }

  /** The log was lost: a follower must not take silence for peace. */
  lost(): void {
    this.#endAll('lost');
  }

  /** Ends the streams spread over a window, so that not all clients of all followers return at once. */
  async drain(windowMs: number): Promise<void> {
    this.#isDraining = true;
    const streams = [...this.#streams.keys()];
    for (const stream of streams) {
      stream.end('stopping');
      await Bun.sleep(windowMs / (streams.length + 1));
    }
  }

  /** Ends every stream. Safe to call twice. */
  close(): void {
    this.#isDraining = true;
    clearInterval(this.#timer);
    this.#endAll('stopping');
  }

  /** Sends a heartbeat, with the age of the last proof. */
  #beat(): void {
    this.#heartbeatAt = performance.now();
    for (const stream of this.#streams.keys()) stream.heartbeat();
  }

  /** While proofs come in time, each of them is a heartbeat, and there is no other. */
  #beatIfQuiet(): void {
    if (performance.now() - this.#heartbeatAt >= QUIET_MS) this.#beat();
  }

  #route(method: 'GET' | 'POST', answer: RouteAnswer): RouteAnswer {
    return async (request, server) => {
      const { docsUrl, log } = this.#options;
      const context = { docsUrl, log, requestId: requestIdOf(request) };
      if (request.method !== method) return refuseMethod(request.method, [method], context);
      try {
        return await answer(request, server);
      } catch (error) {
        return errorResponse(error, context);
      }
    };
  }

  #authorize(request: Request): LogFollower {
    const { authorize, plane } = this.#options;
    // A temporary cause must never look like a wrong token: with no catalog there is nothing to judge a token by.
    if (!plane.freshness.canRead()) throw logIsLost();
    const follower = authorize === undefined ? this.#followerOf(request) : authorize(request);
    if (follower !== undefined) return follower;
    throw plane.freshness.mayLackRecords() ? logIsLost() : tokenInvalid();
  }

  /** The follower behind a new request. A token that is unknown here may be newer than what this node has applied. */
  async #admit(request: Request): Promise<LogFollower> {
    const { authorize } = this.#options;
    const isToken =
      authorize === undefined && bearerTokenIn(request.headers.get('Authorization')) !== undefined;
    if (isToken && this.#followerOf(request) === undefined) await this.#nextProof();
    return this.#authorize(request);
  }

  /** Resolves once this node has proof of where the log ended after now. Throws when none comes for a while. */
  async #nextProof(): Promise<void> {
    const { plane } = this.#options;
    const askedAt = performance.now();
    const isProven = () => performance.now() - plane.follower.sinceProofMs() >= askedAt;
    // The timer alone says when it is too late: by the clock it may fire a moment early, and the loop would never yield.
    const tooLate = Promise.withResolvers<void>();
    let isTooLate = false;
    setTimeout(() => {
      isTooLate = true;
      tooLate.resolve();
    }, JUDGE_MS).unref();

    while (!isProven()) {
      if (isTooLate || !plane.freshness.canStream()) throw logIsLost();
      await Promise.race([this.#proof.promise, tooLate.promise]);
    }
  }

  async #takeReport(request: Request): Promise<Response> {
    const { id } = await this.#admit(request);
    this.#limits.countRequest('reports', id);
    const body = await this.#intake.read(request, id);
    // Reading the body may take long: the token must still be live now.
    const follower = this.#authorize(request);

    if (body.lost !== undefined && (await this.#history.hasLost(body.lost))) return behind(body.lost);
    if (body.over !== undefined && (await this.#history.isOver(body.over))) return behind(body.over);
    const { report, dropped } = this.#intake.take(follower, body);
    const contacts = new Set(body.relays);
    for (const relay of this.#options.plane.catalog.relays.values())
      if (contacts.has(relay.id)) this.#contacts.add(relay.id);
    await this.#options.onReport?.(report, dropped);
    return new Response(null, { status: 204 });
  }

  /** The time on the clock of a follower's stream, by which it judges how old the messages are. */
  async #tellTime(request: Request): Promise<Response> {
    const { id } = await this.#admit(request);
    this.#limits.countRequest('clocks', id);
    const name = queryOf(request).get('stream');
    for (const [stream, follower] of this.#streams) {
      if (stream.name === name && follower.id === id) return Response.json({ sentMs: stream.sentMs() });
    }
    // Behind a load balancer, the stream may be at another node.
    return new Response(null, { status: 404 });
  }

  async #open(request: Request, server: Server<undefined>): Promise<Response> {
    const { id } = await this.#admit(request);
    this.#limits.countRequest('openings', id);
    const from = cursorIn(request);
    if (from !== undefined && (await this.#history.lacks(id, from))) return behind(from);
    // Many that return together must not hold up those that are there.
    await this.#turns.next();
    // Waiting takes time: the token must still be live now.
    const follower = this.#authorize(request);
    const { plane } = this.#options;
    const { cursor } = plane.follower;
    if (!plane.freshness.canStream() || cursor === undefined || this.#isDraining) throw logIsLost();
    this.#limits.admitStream(follower.id, this.#streams.values());
    // The processes of this node take its connections and must have its log; a relay is one more stream.
    const isRelay = this.#options.authorize === undefined;
    const scope = nameIn(cursor, follower.scope);
    const continues = from?.scope === scope && this.#backlog.continues(from);
    if (isRelay && !continues && !this.#limits.mayLoad(plane.catalog.size, follower.id, this.#streams))
      return busy();
    if (isRelay) plane.files.admitStream();
    server.timeout(request, 0);

    const messageOf = (row: BacklogRow | undefined) => row && this.#messages.of(row, follower.scope, scope);
    const name = crypto.randomUUID();
    const { epoch } = cursor;
    const stream = new FollowerStream({
      name,
      hello: encodeMessage({ type: 'hello', version: LOG_VERSION, epoch, scope, continues, stream: name }),
      turn: () => this.#turns.next(),
      snapshot: continues
        ? undefined
        : encodeSnapshot(
            { ...this.#history.seal(cursor), scope },
            contentsIn(follower.scope, plane.catalog.contents()),
          ),
      seq: continues ? from.seq : cursor.seq,
      rowAfter: (seq) => messageOf(this.#backlog.after(seq)),
      hasLost: (seq) => !this.#backlog.holds(seq),
      ageMs: () => plane.follower.sinceProofMs(),
      onGone: (gone) => this.#streams.delete(gone),
    });
    this.#streams.set(stream, follower);
    this.#contacts.add(follower.id);
    return new Response(stream.open(), {
      headers: {
        'Content-Type': LOG_TYPE,
        'Cache-Control': 'no-store, no-transform',
        ...STREAM_FIELDS,
      },
    });
  }

  #followerOf({ headers }: Request): LogFollower | undefined {
    const token = bearerTokenIn(headers.get('Authorization'));
    const relay = token === undefined ? undefined : this.#options.plane.catalog.relays.get(digestOf(token));
    return relay && { id: relay.id, scope: scopeOf(relay) };
  }

  /** Ends the streams of a token in the turn in which its revocation is known. */
  #revoke(tokenId: string): void {
    for (const [stream, { id }] of [...this.#streams]) if (id === tokenId) stream.end('revoked');
  }

  #learnNames(): void {
    this.#names.clear();
    for (const { id, name } of this.#options.plane.catalog.environments()) this.#names.set(id, name);
  }

  #endAll(reason: EndReason): void {
    for (const stream of [...this.#streams.keys()]) stream.end(reason);
  }
}

/** Names what a follower gets: a scope, of what this node itself gets at its own cursor. */
function nameIn(own: Cursor, scope: LogScope): string {
  return digestOf(`${own.scope ?? ''}/${scopeName(scope)}`).slice(0, 16);
}

function tokenInvalid(): ServiceError {
  return new ServiceError(
    'invalid_access_token',
    'The relay token is missing, unknown or revoked: send "Authorization: Bearer <relay token>".',
  );
}

/** The cursor from which the follower would continue; `undefined` if it has none. */
function cursorIn(request: Request): Cursor | undefined {
  const query = queryOf(request);
  const [epoch, changeId, text] = [query.get('epoch'), query.get('changeId'), query.get('seq')];
  if (epoch === null && changeId === null && text === null) return undefined;
  const seq = Number(text);
  if (epoch === null || changeId === null || text === null || !/^\d{1,15}$/.test(text)) {
    throw invalid('A cursor has epoch, seq and changeId: send all three, or none.');
  }
  return { epoch, seq, changeId, ...defined({ scope: query.get('scope') ?? undefined }) };
}
