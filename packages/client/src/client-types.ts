import type { FlagMap, FlagState, Json } from '@halyard/protocol';
import type { ClientStatus } from './connection.ts';
import type { FlagsError } from './errors.ts';
import type { Evaluation } from './evaluation.ts';
import type { Register } from './index.ts';
import type { FlagsChange } from './options.ts';

/** The flags an application has registered; any, until it has. */
export type RegisteredFlags = Register extends { readonly flags: infer Flags } ? Flags : Record<string, Json>;

/** A flag key: one of the registered ones, or any string. */
export type FlagKey = keyof RegisteredFlags & string;

/** What a value read with a default of type `D` gives: `true` widens to `boolean`, `10` to `number`, `'a'` to `string`. */
export type ValueOf<K extends FlagKey, D> = Register extends { readonly flags: object }
  ? RegisteredFlags[K] | D
  : Widen<D>;

/** A literal type made as wide as its kind; a default that is nothing takes anything. */
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
 * Whom flags are read for: decides partial rollouts. A number counts as its text. `null` is someone without a key, as a
 * visitor who has not signed in: outside every partial rollout. So is anything else that JavaScript gives and that is no key.
 */
export type TargetingKey = string | number | bigint | null;

/** For whom, and from what, a read answers. */
export interface ReadOptions {
  /** Whom the read is for. Default: the client's. */
  readonly targetingKey?: TargetingKey | undefined;
  /** `bootstrap` answers from what the client started with, as a page's first rendering must. Default `current`. */
  readonly from?: 'current' | 'bootstrap';
}

/** For whom, and from what, a boolean read answers. */
export interface BooleanReadOptions extends ReadOptions {
  /**
   * What it answers as long as the flag cannot be resolved: before the first load, after a failed one, or when the flag
   * does not exist. `true` for a switch that must stay on. A flag that is off is `false` all the same. Default `false`.
   */
  readonly fallback?: boolean | undefined;
}

/** How `ready()` ended. */
export interface ReadyResult {
  /**
   * `ready`: flags have been loaded. `bootstrapped`: not yet, but the bootstrap answers. `failed`: the first load
   * failed, defaults answer. `timeout`: it is still under way. The client keeps trying in every case.
   */
  readonly status: 'ready' | 'bootstrapped' | 'failed' | 'timeout';
  /** Why, unless `ready` or `bootstrapped`. */
  readonly error?: FlagsError;
}

/**
 * The flags of one environment. Nothing here throws and no promise rejects. Methods may be taken off the object. The
 * first call of anything but `close` begins the work.
 */
export interface FlagsClient extends AsyncDisposable {
  readonly environment: string;
  /** The targeting key of reads that name none, from the options or the bootstrap. */
  readonly targetingKey: string | null | undefined;
  /** Whether the options had a `bootstrap` that could be used: one of this environment, with flags in it. */
  readonly hasBootstrap: boolean;
  /** Where the client stands; see {@link ClientStatus}. */
  readonly status: ClientStatus;
  /** The revision of the flags at hand, when the server numbers its maps. */
  readonly revision: number | undefined;
  /** Waits for the first load, at most `timeoutMs` or until `signal` is aborted. Always resolves. */
  ready(options?: { readonly timeoutMs?: number; readonly signal?: AbortSignal }): Promise<ReadyResult>;
  /** Whether a flag is on; `false`, or the `fallback`, when it cannot be resolved. (Spec: S1.6) */
  isEnabled(key: FlagKey, options?: BooleanReadOptions): boolean;
  /**
   * A flag's value when it is on, has one, and it is the same kind of JSON as the default; otherwise the default. What
   * comes from the server is frozen. (Spec: S1.6)
   */
  getValue<K extends FlagKey, D extends DefaultOf<K>>(
    key: K,
    defaultValue: D,
    options?: ReadOptions,
  ): ValueOf<K, D>;
  /** Like `getValue`, with the reason. */
  evaluate<K extends FlagKey, D extends DefaultOf<K>>(
    key: K,
    defaultValue: D,
    options?: ReadOptions,
  ): Evaluation<ValueOf<K, D>>;
  /** The flag as the server sent it, for every targeting key; `undefined` when it does not exist. */
  getState(key: FlagKey): FlagState | undefined;
  /** All flags, as the server sent them. A plain object, frozen, and the same one until something changes. */
  all(options?: Pick<ReadOptions, 'from'>): FlagMap;
  /** Calls `listener` after each change, or each change of one of `keys`. Gives the function that ends it. */
  onChange(
    listener: (change: FlagsChange) => void,
    options?: { readonly keys?: readonly FlagKey[]; readonly signal?: AbortSignal },
  ): () => void;
  /** Calls `listener` with each new status. Gives the function that ends it. */
  onStatus(listener: (status: ClientStatus) => void, options?: { readonly signal?: AbortSignal }): () => void;
  /** Loads all flags now. Gives whether they are current afterwards. */
  refresh(): Promise<boolean>;
  /** What another client, as that of a page, can start from. Plain data, safe to serialise. */
  toBootstrap(): { readonly environment: string; readonly flags: FlagMap };
  /** Ends all work. Reads answer with the last flags. Safe to call twice; each call waits for the last report of reads. */
  close(): Promise<void>;
}
