import type { DeliveryRecord, FlagState } from './types.ts';

/** `paused`: the tab has been hidden for a while, and others may have the connection. */
export type LiveStatus = 'connecting' | 'open' | 'lost' | 'paused';

/** How long a hidden tab keeps its connection: browsers allow six per server, over all tabs. */
const HIDDEN_MS = 30_000;
/** The server sends a keep-alive every 15 s: a stream that is silent for longer is lost, even if the browser calls it open. */
const SILENT_MS = 45_000;
/** How often that is checked, against the clock: timers pause while the machine sleeps. */
const LOOK_MS = 15_000;
/** How many events are held at most. */
const MOST_HELD = 1_000;
const [FIRST_DELAY_MS, LONGEST_DELAY_MS] = [1_000, 30_000];

type Listener<Name extends keyof LiveEvents> = (event: LiveEvents[Name]) => void;

/**
 * The event stream of this tab. Reconnects automatically with growing, jittered pauses, and disconnects while the tab
 * is hidden.
 */
export class LiveConnection {
  readonly #url: string;
  readonly #listeners = new Map<string, Set<(event: never) => void>>();
  readonly #statusListeners = new Set<() => void>();
  #source: EventSource | undefined;
  #status: LiveStatus = 'connecting';
  #failures = 0;
  /** When the stream was opened or last sent something, in epoch milliseconds. */
  #heardAt = 0;
  #isSuspended = false;
  /** The events that wait; `undefined` once they are handed on as they come. */
  #held: (readonly [name: keyof LiveEvents, event: never])[] | undefined;
  #retryTimer: ReturnType<typeof setTimeout> | undefined;
  #hiddenTimer: ReturnType<typeof setTimeout> | undefined;
  readonly #lookTimer: ReturnType<typeof setInterval>;

  /** `isHeld`: events wait until {@link release}, for listeners that are not there yet. */
  constructor(url: string, options: { readonly isHeld?: boolean } = {}) {
    this.#url = url;
    this.#held = options.isHeld ? [] : undefined;
    document.addEventListener('visibilitychange', this.#onVisibility);
    document.addEventListener('resume', this.#look);
    addEventListener('online', this.#reconnect);
    this.#lookTimer = setInterval(this.#look, LOOK_MS);
    this.#open();
  }

  get status(): LiveStatus {
    return this.#status;
  }

  /** Calls `listener` with each event of this name. Returns the function that stops it. */
  on<Name extends keyof LiveEvents>(name: Name, listener: Listener<Name>): () => void {
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners.add(listener));
    return () => listeners.delete(listener);
  }

  /** Calls `listener` when the status changes. Returns the function that stops it. */
  onStatus(listener: () => void): () => void {
    this.#statusListeners.add(listener);
    return () => this.#statusListeners.delete(listener);
  }

  /** Resolves once events arrive, or after `timeoutMs`: then the screen works without them. */
  async opened(timeoutMs: number): Promise<void> {
    if (this.#status !== 'connecting') return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, timeoutMs);
    const stop = this.onStatus(resolve);
    await promise;
    clearTimeout(timer);
    stop();
  }

  /** Hands on the events that were held, and those that follow as they come. */
  release(): void {
    const events = this.#held ?? [];
    this.#held = undefined;
    for (const [name, event] of events) this.#dispatch(name, event);
  }

  /** Closes the connection until {@link resume}: every attempt would be refused. */
  suspend(): void {
    this.#isSuspended = true;
    clearTimeout(this.#hiddenTimer);
    this.#pause();
  }

  /** Connects again, if it was suspended. */
  resume(): void {
    if (!this.#isSuspended) return;
    this.#isSuspended = false;
    this.#failures = 0;
    this.#setStatus('connecting');
    this.#open();
  }

  /** Closes the connection permanently. */
  close(): void {
    document.removeEventListener('visibilitychange', this.#onVisibility);
    document.removeEventListener('resume', this.#look);
    removeEventListener('online', this.#reconnect);
    clearInterval(this.#lookTimer);
    clearTimeout(this.#retryTimer);
    clearTimeout(this.#hiddenTimer);
    this.#source?.close();
  }

  #open(): void {
    clearTimeout(this.#retryTimer);
    this.#source?.close();
    const source = new EventSource(this.#url);
    this.#source = source;
    this.#heardAt = Date.now();
    source.onerror = () => this.#onLost();
    for (const name of LIVE_EVENTS) {
      source.addEventListener(name, (event: MessageEvent<string>) => {
        // The server's own events: their shape is the API's contract.
        this.#dispatch(name, JSON.parse(event.data) as never);
      });
    }
  }

  #dispatch(name: keyof LiveEvents, event: never): void {
    this.#heardAt = Date.now();
    if (this.#held !== undefined) {
      this.#held.push([name, event]);
      if (this.#held.length < MOST_HELD) return;
      // What is missed is read again after the next `hello`.
      this.#held = [];
      this.#onLost();
      return;
    }
    if (name === 'hello') {
      this.#failures = 0;
      this.#setStatus('open');
    }
    for (const listener of this.#listeners.get(name) ?? []) listener(event);
  }

  /** Retries with growing pauses: the browser's own retry has a fixed one, and gives up on some responses. */
  #onLost(): void {
    this.#source?.close();
    const ceiling = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** this.#failures++);
    this.#setStatus('lost');
    clearTimeout(this.#retryTimer);
    this.#retryTimer = setTimeout(() => this.#open(), ceiling * (0.5 + Math.random() / 2));
  }

  /** Treats a stream that has been silent for too long as lost: there is no other sign after a laptop slept. */
  readonly #look = (): void => {
    const isOpen = this.#source?.readyState !== EventSource.CLOSED;
    if (isOpen && Date.now() - this.#heardAt > SILENT_MS) this.#onLost();
  };

  readonly #reconnect = (): void => {
    if (this.#status === 'lost' && !document.hidden) this.#open();
  };

  readonly #onVisibility = (): void => {
    if (this.#isSuspended) return;
    clearTimeout(this.#hiddenTimer);
    if (document.hidden) this.#hiddenTimer = setTimeout(() => this.#pause(), HIDDEN_MS);
    else if (this.#status === 'paused') {
      this.#setStatus('connecting');
      this.#open();
    } else {
      this.#look();
      this.#reconnect();
    }
  };

  #pause(): void {
    clearTimeout(this.#retryTimer);
    this.#source?.close();
    this.#setStatus('paused');
  }

  #setStatus(status: LiveStatus): void {
    if (status === this.#status) return;
    this.#status = status;
    for (const listener of this.#statusListeners) listener();
  }
}

/** Something was committed. */
export interface LiveChange {
  readonly seq: number;
  /** Such as `flags.changed`, `records.changed` or `key.revoked`. */
  readonly kind: string;
  readonly project?: string;
  readonly environment?: string;
  readonly revision?: number;
  /** The actor, as in the audit log; absent if unknown. */
  readonly actor?: string;
  readonly at: string;
  /** The new states; absent if they are too large for an event. `null` is a removed state. */
  readonly changes?: readonly { readonly key: string; readonly state: FlagState | null }[];
  /** The actions, as in the audit log: `flag.updated`, `token.created`. */
  readonly actions?: readonly string[];
}

/** The number of open streams of a project's environments. */
export interface LivePresence {
  readonly project: string;
  readonly environments: readonly {
    readonly environment: string;
    readonly streams: number;
    readonly nodes: number;
  }[];
}

/** The events of `GET /api/events` by name. */
export interface LiveEvents {
  readonly hello: { readonly seq: number; readonly node: string };
  /** A keep-alive. */
  readonly beat: Readonly<Record<string, never>>;
  readonly change: LiveChange;
  readonly delivery: DeliveryRecord;
  readonly presence: LivePresence;
}

/** The names of the events. */
const LIVE_EVENTS = [
  'hello',
  'beat',
  'change',
  'delivery',
  'presence',
] as const satisfies (keyof LiveEvents)[];
