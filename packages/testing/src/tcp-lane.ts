import type { Socket } from 'node:net';

/** Whether a piece is sent on, or its connection is cut before, right after, or ahead of it: then the proxy keeps it. */
export type LaneVerdict = 'pass' | 'cut-before' | 'cut-after' | 'cut-ahead';

/** The questions of a lane to its proxy. */
export interface LaneRules {
  /** Whether bytes are held back now. */
  readonly isHeld: () => boolean;
  /** Milliseconds by which each piece is delayed. */
  readonly delayMs: () => number;
  /** Bytes that may pass in a second. */
  readonly bytesPerSecond: () => number;
  /** Counts bytes about to be sent on; returns how many of them may pass before the connection is cut. */
  readonly admit: (bytes: number) => number;
  /** Called when {@link admit} let fewer bytes pass than there were. */
  readonly onExhausted: () => void;
  /** Looks at a piece that is about to be sent on. */
  readonly judge?: (piece: Buffer) => LaneVerdict;
  /** Called to cut this lane's connection, with a piece that the proxy is to keep. */
  readonly onCut?: (late?: Buffer) => void;
}

/** One direction of a proxied connection: what comes from one socket goes to the other, in order, unless held. */
export class TcpLane {
  readonly #to: Socket;
  readonly #rules: LaneRules;
  readonly #waiting: { readonly piece: Buffer | 'end'; readonly dueAt: number }[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** When the last accepted piece will have passed. */
  #freeAt = 0;
  #isClosed = false;

  constructor(from: Socket, to: Socket, rules: LaneRules) {
    this.#to = to;
    this.#rules = rules;
    from.on('data', (piece: Buffer) => this.#accept(piece));
    from.on('end', () => this.#accept('end'));
    to.on('connect', () => this.flush());
  }

  /** Sends on what may be sent on now. The proxy calls it when its faults change. */
  flush(): void {
    clearTimeout(this.#timer);
    while (!this.#rules.isHeld() && !this.#to.connecting) {
      const next = this.#waiting[0];
      if (next === undefined) return;
      const waitMs = next.dueAt - performance.now();
      if (waitMs > 0) {
        this.#timer = setTimeout(() => this.flush(), waitMs);
        return;
      }
      this.#waiting.shift();
      this.#send(next.piece);
    }
  }

  /** Forgets what is waiting, and takes nothing more: a socket that is reset still emits its end. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#waiting.length = 0;
  }

  #accept(piece: Buffer | 'end'): void {
    if (this.#isClosed) return;
    const now = performance.now();
    const durationMs = piece === 'end' ? 0 : (piece.length / this.#rules.bytesPerSecond()) * 1000;
    this.#freeAt = Math.max(now, this.#freeAt) + durationMs;
    this.#waiting.push({ piece, dueAt: this.#freeAt + this.#rules.delayMs() });
    this.flush();
  }

  #send(piece: Buffer | 'end'): void {
    if (!this.#to.writable) return;
    if (piece === 'end') {
      this.#to.end();
      return;
    }
    const verdict = this.#rules.judge?.(piece) ?? 'pass';
    if (verdict === 'cut-before' || verdict === 'cut-ahead') {
      this.#rules.onCut?.(verdict === 'cut-ahead' ? piece : undefined);
      return;
    }
    const admitted = this.#rules.admit(piece.length);
    if (admitted > 0) this.#to.write(piece.subarray(0, admitted));
    if (verdict === 'cut-after') this.#rules.onCut?.();
    else if (admitted < piece.length) this.#rules.onExhausted();
  }
}
