import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { type LaneVerdict, TcpLane } from './tcp-lane.ts';

/** Where a {@link TcpProxy} leads to. */
export interface ProxyTarget {
  readonly port: number;
  /** Default `127.0.0.1`. */
  readonly host?: string;
}

interface Link {
  readonly near: Socket;
  readonly far: Socket;
  readonly lanes: readonly TcpLane[];
}

interface Trap {
  readonly texts: readonly string[];
  readonly when: 'before' | 'after' | 'ahead';
  /** How many of the texts each connection has seen. */
  readonly progress: Map<Link, number>;
}

/**
 * A TCP proxy on a free loopback port that can fail like a network: black holes, resets, refusals, cuts in the
 * middle of a message, delays. Make one with {@link startTcpProxy}.
 */
export class TcpProxy {
  readonly #server: Server;
  #target: ProxyTarget;
  readonly #links = new Set<Link>();
  /** The last pieces of clients that are gone, by the socket that they still go to. */
  readonly #late = new Map<Socket, Buffer>();
  #mode: 'pass' | 'blackhole' | 'refuse' = 'pass';
  #delayMs = 0;
  #bytesPerSecond = Number.POSITIVE_INFINITY;
  #budget = Number.POSITIVE_INFINITY;
  #trap: Trap | undefined;
  #passedBytes = 0;

  constructor(server: Server, target: ProxyTarget) {
    this.#server = server;
    this.#target = target;
    server.on('connection', (near) => this.#link(near));
  }

  /** The port to connect to, on 127.0.0.1. */
  get port(): number {
    // `AddressInfo`: the server listens on a TCP port, not on a path.
    return (this.#server.address() as AddressInfo).port;
  }

  /** Connections that are open now. */
  get connections(): number {
    return this.#links.size;
  }

  /** Bytes that have passed so far, both directions together. */
  get passedBytes(): number {
    return this.#passedBytes;
  }

  /**
   * From now on nothing passes in either direction, without a sign: open connections stay open, new ones are accepted
   * and hang. Sent bytes are held and delivered by {@link restore}, as TCP would repeat them.
   */
  blackhole(): void {
    this.#mode = 'blackhole';
  }

  /** From now on new connections lead to `target`, as after a decision of a load balancer. Open ones stay where they are. */
  lead(target: ProxyTarget): void {
    this.#target = target;
  }

  /** Resets every open connection on both sides, now. New connections work. */
  reset(): void {
    for (const link of [...this.#links]) this.#cut(link);
  }

  /**
   * Ends one direction of every open connection, as a middlebox does that forgets half of one: `near` gets an end although
   * the target sends on, or `far` (the target) although its client does.
   */
  halfClose(side: 'near' | 'far'): void {
    for (const link of this.#links) link[side].end();
  }

  /** Resets every open connection and, from now on, every new one right after it is made. */
  refuse(): void {
    this.#mode = 'refuse';
    this.reset();
  }

  /** Lets `bytes` more bytes through, both directions together, then resets every connection, once. */
  dropAfter(bytes: number): void {
    this.#budget = bytes;
  }

  /**
   * Cuts, once, the first connection on which a client has sent all of `texts`, in this order: `before` the target
   * gets the last one, or `after` it was sent on, so that only its answer is lost, or `ahead` of it: the target gets it
   * late, at {@link restore}. Each text must come in one piece, as a short statement does.
   */
  cutOn(texts: readonly string[], when: Trap['when']): void {
    this.#trap = { texts, when, progress: new Map() };
  }

  /** Delays every piece by `ms` milliseconds, each way, from now on. Order is kept. */
  delay(ms: number): void {
    this.#delayMs = ms;
  }

  /** Lets only so many bytes through in a second, in each direction of each connection, from now on. */
  throttle(bytesPerSecond: number): void {
    this.#bytesPerSecond = bytesPerSecond;
  }

  /** Ends every fault. Held bytes go on to where they were going. */
  restore(): void {
    this.#mode = 'pass';
    this.#delayMs = 0;
    this.#bytesPerSecond = Number.POSITIVE_INFINITY;
    this.#budget = Number.POSITIVE_INFINITY;
    this.#trap = undefined;
    for (const [far, piece] of this.#late) far.end(piece);
    this.#late.clear();
    for (const link of [...this.#links]) {
      for (const lane of link.lanes) lane.flush();
      if (link.near.destroyed || link.far.destroyed) this.#cut(link);
    }
  }

  /** Stops listening and ends every connection. Safe to call twice. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.reset();
    for (const far of this.#late.keys()) far.destroy();
    await closed;
  }

  #link(near: Socket): void {
    if (this.#mode === 'refuse') {
      near.on('error', ignore);
      near.resetAndDestroy();
      return;
    }

    const far = connect({
      port: this.#target.port,
      host: this.#target.host ?? '127.0.0.1',
      allowHalfOpen: true,
    });
    for (const socket of [near, far]) socket.setNoDelay(true);

    const rules = {
      isHeld: () => this.#mode === 'blackhole',
      delayMs: () => this.#delayMs,
      bytesPerSecond: () => this.#bytesPerSecond,
      admit: (bytes: number) => this.#admit(bytes),
      onExhausted: () => this.reset(),
    };
    const trapped = {
      ...rules,
      judge: (piece: Buffer) => this.#judge(link, piece),
      onCut: (late?: Buffer) => this.#cutGently(link, late),
    };
    const link: Link = { near, far, lanes: [new TcpLane(near, far, trapped), new TcpLane(far, near, rules)] };

    this.#links.add(link);
    for (const socket of [near, far]) {
      socket.on('error', () => this.#lose(link));
      socket.on('close', () => this.#settle(link));
    }
  }

  #admit(bytes: number): number {
    const admitted = Math.min(bytes, this.#budget);
    this.#passedBytes += admitted;
    this.#budget -= admitted;
    if (admitted < bytes) this.#budget = Number.POSITIVE_INFINITY;
    return admitted;
  }

  #judge(link: Link, piece: Buffer): LaneVerdict {
    const trap = this.#trap;
    if (trap === undefined) return 'pass';
    const next = trap.progress.get(link) ?? 0;
    if (!piece.includes(trap.texts[next] ?? '')) return 'pass';
    trap.progress.set(link, next + 1);
    if (next + 1 < trap.texts.length) return 'pass';
    this.#trap = undefined;
    return `cut-${trap.when}`;
  }

  /** Resets the client's side, and ends the target's only after it has read what was sent, or what will be sent late. */
  #cutGently(link: Link, late?: Buffer): void {
    this.#links.delete(link);
    for (const lane of link.lanes) lane.close();
    link.near.resetAndDestroy();
    if (late === undefined) link.far.end();
    else this.#late.set(link.far, late);
  }

  /** One side was torn down. A black hole keeps even that from the other side. */
  #lose(link: Link): void {
    if (this.#mode !== 'blackhole') this.#cut(link);
  }

  #settle(link: Link): void {
    if (link.near.destroyed && link.far.destroyed) this.#links.delete(link);
  }

  #cut(link: Link): void {
    this.#links.delete(link);
    for (const lane of link.lanes) lane.close();
    for (const socket of [link.near, link.far]) if (!socket.destroyed) socket.resetAndDestroy();
  }
}

/** Starts a proxy to `target`. Close it when the test ends. */
export async function startTcpProxy(target: ProxyTarget): Promise<TcpProxy> {
  const server = createServer({ allowHalfOpen: true });
  const proxy = new TcpProxy(server, target);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  return proxy;
}

function ignore(): void {
  // A connection that is being refused may fail in any way it likes.
}
