import type { Platform } from './platform.ts';

/**
 * Where a client stands. `connecting`: no map yet, the first load is under way. `ready`: the map is current. `stale`:
 * the map may have aged, the connection is being restored. `failed`: the first load failed and there is still no map.
 */
export type ClientStatus = 'connecting' | 'ready' | 'stale' | 'failed' | 'closed';

/** Works out the status of a connection from what happens to it. */
export class Health {
  status: ClientStatus = 'connecting';
  /** Resolves when the first load has succeeded or failed; also when the connection is closed before. */
  readonly settled: Promise<void>;
  readonly #setTimer: Platform['setTimer'];
  readonly #onStatus: (status: ClientStatus) => void;
  #settle: () => void = () => {};
  #cancel: (() => void) | undefined;

  constructor(setTimer: Platform['setTimer'], onStatus: (status: ClientStatus) => void) {
    this.#setTimer = setTimer;
    this.#onStatus = onStatus;
    this.settled = new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  /** The map is current, and stays so until the connection says otherwise. */
  confirm(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#become('ready');
  }

  /** Nothing vouches for the map any more: unless confirmed, it is stale in `ms` milliseconds. Counts from the first call. */
  lapse(ms: number): void {
    if (this.status !== 'ready') return;
    this.#cancel ??= this.#setTimer(() => this.#become('stale'), ms);
  }

  /** A load failed. */
  fail(): void {
    if (this.status === 'connecting') this.#become('failed');
  }

  /** The end. */
  close(): void {
    this.#cancel?.();
    this.#become('closed');
  }

  #become(status: ClientStatus): void {
    this.#settle();
    if (status === this.status || this.status === 'closed') return;
    this.status = status;
    this.#onStatus(status);
  }
}
