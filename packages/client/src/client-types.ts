import type { FlagMap, FlagState, Json } from '@halyard/protocol';
import type { ClientStatus } from './connection.ts';
import type { FlagsError } from './errors.ts';
import type { Evaluation } from './evaluation.ts';
import type { Register } from './index.ts';
import type { FlagsChange } from './options.ts';

/** The flags that the application has registered; any flags if it has not. */
export type RegisteredFlags = Register extends { readonly flags: infer Flags } ? Flags : Record<string, Json>;

/** A flag key: one of the registered ones, or any string. */
export type FlagKey = keyof RegisteredFlags & string;

/** The type of a value that is read with a default of type `D`: `true` gives `boolean`, `10` gives `number`. */
export type ValueOf<K extends FlagKey, D> = Register extends { readonly flags: object }
  ? RegisteredFlags[K] | D
  : Widen<D>;

/** Widens a literal type, so that `'a'` becomes `string`. A default of `null` accepts any value. */
export type Widen<D> = D extends null | undefined
  ? Json | D
  : D extends boolean
    ? boolean
    : D extends number
      ? number
      : D extends string
        ? string
        : D extends readonly never[]
          ? readonly Json[]
          : D;

/** What a default of flag `K` may be. */
export type DefaultOf<K extends FlagKey> = Register extends { readonly flags: object }
  ? RegisteredFlags[K] | null | undefined
  : Json | object | undefined; // `object` for defaults typed by an interface

/**
 * Identifies the user that flags are read for, which decides partial rollouts. A number counts as its text. `null` is a user
 * without a key, such as a visitor who has not signed in, and is outside every partial rollout. Any other value that is not a
 * key counts as `null`.
 */
export type TargetingKey = string | number | bigint | null;

/** Options of a read. */
export interface ReadOptions {
  /** The user that the read is for. Default: the client's. */
  readonly targetingKey?: TargetingKey | undefined;
  /** `bootstrap` reads the flags that the client started with, which a page needs for its first rendering. Default `current`. */
  readonly from?: 'current' | 'bootstrap';
}

/** Options of a boolean read. */
export interface BooleanReadOptions extends ReadOptions {
  /**
   * The result while the flag cannot be resolved: before the first load, after a failed one, or when the flag does not exist.
   * Use `true` for a switch that must stay on. A flag that is off is still `false`. Default `false`.
   */
  readonly fallback?: boolean | undefined;
}

/** The result of `ready()`. */
export interface ReadyResult {
  /**
   * `ready`: flags have been loaded. `bootstrapped`: not yet, and reads use the bootstrap. `failed`: the first load failed,
   * and reads return defaults. `timeout`: the first load is still running. The client keeps trying in every case.
   */
  readonly status: 'ready' | 'bootstrapped' | 'failed' | 'timeout';
  /** The reason for `failed` and `timeout`. */
  readonly error?: FlagsError;
}

/**
 * The flags of one environment. No method throws, and no promise rejects. Methods can be destructured. The first call of
 * any method except `close` connects.
 */
export interface FlagsClient extends AsyncDisposable {
  readonly environment: string;
  /** The targeting key of reads without one, from the options or the bootstrap. */
  readonly targetingKey: string | null | undefined;
  /** Whether the options had a usable `bootstrap`: one of this environment, with flags in it. */
  readonly hasBootstrap: boolean;
  /** The status of the client; see {@link ClientStatus}. */
  readonly status: ClientStatus;
  /** The revision of the current flags, if the server numbers them. */
  readonly revision: number | undefined;
  /**
   * Waits for the first load, at most `timeoutMs` or until `signal` is aborted. Always resolves.
   *
   * @example
   * ```ts
   * const { status, error } = await flags.ready({ timeoutMs: 2_000 });
   * if (status === 'failed') console.warn('starting with defaults', error);
   * ```
   */
  ready(options?: { readonly timeoutMs?: number; readonly signal?: AbortSignal }): Promise<ReadyResult>;
  /** Returns whether a flag is on; `false`, or the `fallback`, if it cannot be resolved. (Spec: S1.6) */
  isEnabled(key: FlagKey, options?: BooleanReadOptions): boolean;
  /**
   * Returns a flag's value if the flag is on and its value is of the same JSON type as the default; otherwise returns the
   * default. Values from the server are frozen. (Spec: S1.6)
   *
   * @example
   * ```ts
   * const limit = flags.getValue('upload-limit-mb', 10); // a number
   * ```
   */
  getValue<K extends FlagKey, D extends DefaultOf<K>>(
    key: K,
    defaultValue: D,
    options?: ReadOptions,
  ): ValueOf<K, D>;
  /** Like `getValue`, but returns the reason as well. */
  evaluate<K extends FlagKey, D extends DefaultOf<K>>(
    key: K,
    defaultValue: D,
    options?: ReadOptions,
  ): Evaluation<ValueOf<K, D>>;
  /** Returns the flag as the server sent it, before any rollout is decided; `undefined` if it does not exist. */
  getState(key: FlagKey): FlagState | undefined;
  /** Returns all flags as the server sent them: a plain, frozen object, and the same one until something changes. */
  all(options?: Pick<ReadOptions, 'from'>): FlagMap;
  /**
   * Calls `listener` after each change, or only after changes of `keys`. Returns a function that removes the listener.
   *
   * @example
   * ```ts
   * const stop = flags.onChange(({ changed }) => console.log('changed:', changed), { keys: ['new-checkout'] });
   * ```
   */
  onChange(
    listener: (change: FlagsChange) => void,
    options?: { readonly keys?: readonly FlagKey[]; readonly signal?: AbortSignal },
  ): () => void;
  /** Calls `listener` with each new status. Returns a function that removes the listener. */
  onStatus(listener: (status: ClientStatus) => void, options?: { readonly signal?: AbortSignal }): () => void;
  /** Loads all flags now. Resolves to whether they are current. */
  refresh(): Promise<boolean>;
  /** Returns the flags for the `bootstrap` of another client, such as the one of a page. Plain data, safe to serialize. */
  toBootstrap(): { readonly environment: string; readonly flags: FlagMap };
  /**
   * Disconnects. Reads continue to return the last flags. Can be called twice; each call waits for the last report of reads.
   */
  close(): Promise<void>;
}
