/** Forces flags in one browser or process, without a change on the server. */
import type { FlagMap, FlagState, Json } from '@halyard/protocol';
import type { BooleanReadOptions, FlagsClient, ReadOptions } from './client-types.ts';
import type { Evaluation } from './evaluation.ts';
import { readFlags } from './flags.ts';
import { type FlagsChange, filtered } from './options.ts';
import { fits } from './reads.ts';
import { createReporter, optionOf } from './reporter.ts';
import type { FlagStorage } from './store.ts';

/** Where an override comes from: the address of the page, {@link Overrides.set}, or a variable of the process. */
export type OverrideSource = 'query' | 'storage' | 'variable';

/** A flag that is forced. */
export interface Override {
  readonly key: string;
  readonly source: OverrideSource;
  readonly state: FlagState;
}

/** Options of {@link overrideFlags}. */
export interface OverrideOptions {
  /** Whether flags can be overridden. Default: in every environment except `production`. */
  readonly enabled?: boolean;
  /** Keeps what {@link Overrides.set} sets. Default: `localStorage` in pages; elsewhere nothing is kept. */
  readonly storage?: FlagStorage;
}

/** The overrides of a client. */
export interface Overrides {
  /** Whether flags can be overridden here. */
  readonly enabled: boolean;
  /** Returns the flags that are forced, by key. */
  list(): readonly Override[];
  /** Forces a flag on or off, or on with a value. */
  set(key: string, state: boolean | FlagState): void;
  /** Stops forcing a flag, or all flags. */
  clear(key?: string): void;
  /** Shows the flags in a panel, each with its source and a switch. Only in pages. Resolves to a function that closes it. */
  openPanel(): Promise<() => void>;
}

/** A client whose flags can be overridden. */
export interface OverriddenClient extends FlagsClient {
  readonly overrides: Overrides;
}

const PREFIX = 'HALYARD_OVERRIDE_';

/**
 * Returns the same client with flags that can be forced, with the reason `override`. The original client does not change.
 * In the environment `production` nothing is forced unless `enabled` is `true`. A warning on the console names the flags that
 * are forced at the start. Never throws.
 *
 * A flag is forced by the address of the page (`?halyard.new-checkout=on`), by `overrides.set()`, which the browser keeps, or
 * by a variable of the process (`HALYARD_OVERRIDE_NEW_CHECKOUT=on`), in this order. A value is `on`, `off`, or JSON.
 *
 * @example
 * ```ts
 * const flags = overrideFlags(client);
 * flags.overrides.set('new-checkout', true);
 * ```
 */
export function overrideFlags(client: FlagsClient, options?: OverrideOptions): OverriddenClient {
  const { environment } = client;
  const enabled = options?.enabled ?? environment !== 'production';
  const { warn, listeners } = createReporter(() => 0, undefined, undefined);
  const changes = listeners<FlagsChange>();
  // Some runtimes that have no pages have a `localStorage`, which all their programs share.
  const storage = () =>
    options?.storage ??
    ('document' in globalThis ? (globalThis as { localStorage?: FlagStorage }).localStorage : undefined);
  const name = `halyard/override/1/${environment}`;
  const inQuery = enabled ? readQuery() : new Map<string, FlagState>();
  const inStorage = enabled ? readStorage(storage, name) : new Map<string, FlagState>();
  const inVariables = enabled ? readVariables() : new Map<string, FlagState>();

  const find = (key: string): Omit<Override, 'key'> | undefined => {
    const sources = [
      ['query', inQuery.get(key)],
      ['storage', inStorage.get(key)],
      ['variable', inVariables.size ? inVariables.get(variableOf(key)) : undefined],
    ] as const;
    for (const [source, state] of sources) if (state) return { source, state };
    return undefined;
  };
  /** The state that a flag is forced to. Without a value of the override, the server's counts. */
  const forced = (key: string, read?: ReadOptions): FlagState | undefined => {
    // The first rendering of a page must be the one of its server, which knows of no overrides.
    if (!enabled || optionOf(read, 'from') === 'bootstrap') return undefined;
    const state = find(key)?.state;
    const value = state?.value ?? client.getState(key)?.value;
    return state && { enabled: state.enabled, ...(value !== undefined && { value }) };
  };

  const evaluate = (key: string, defaultValue: unknown, read?: ReadOptions): Evaluation<unknown> => {
    const state = forced(key, read);
    // `null`: the type of the default is checked by the signature, of which this is the implementation.
    if (!state) return client.evaluate(key, defaultValue as null, read);
    const isOn = state.enabled && state.value !== undefined;
    const isWrong = isOn && !fits(state.value, defaultValue);
    return {
      key,
      value: isOn && !isWrong ? state.value : defaultValue,
      enabled: state.enabled,
      stale: false,
      reason: isWrong ? 'error' : 'override',
      ...(isWrong && { errorCode: 'type_mismatch' }),
      state,
    };
  };
  const reads = {
    isEnabled: (key: string, read?: BooleanReadOptions) =>
      forced(key, read)?.enabled ?? client.isEnabled(key, read),
    getValue: (key: string, defaultValue: unknown, read?: ReadOptions) =>
      forced(key, read)
        ? evaluate(key, defaultValue, read).value
        : client.getValue(key, defaultValue as null, read),
    evaluate,
    getState: (key: string) => forced(key) ?? client.getState(key),
  };

  let merged: readonly [FlagMap, FlagMap] | undefined;
  const all = (read?: Pick<ReadOptions, 'from'>): FlagMap => {
    const flags = client.all(read);
    if (optionOf(read, 'from') === 'bootstrap') return flags;
    // The same object until something changes.
    if (merged?.[0] !== flags) {
      const keys = new Set([...Object.keys(flags), ...inQuery.keys(), ...inStorage.keys()]);
      const states = [...keys].map((key) => [key, forced(key) ?? flags[key]] as const);
      merged = [flags, Object.freeze(Object.fromEntries(states.filter(([, state]) => state))) as FlagMap];
    }
    return merged[1];
  };

  const change = (changed: readonly string[]) => {
    merged = undefined;
    try {
      storage()?.setItem(name, JSON.stringify(Object.fromEntries(inStorage)));
    } catch {
      // It counts for this page only.
    }
    if (changed.length) changes.tellAll({ changed, flags: all(), revision: client.revision });
  };
  const list = () =>
    [...new Set([...Object.keys(all()), ...inQuery.keys(), ...inStorage.keys()])].flatMap((key) => {
      const found = enabled && find(key);
      return found ? [{ key, ...found }] : [];
    });
  const overrides: Overrides = {
    enabled,
    list,
    set: (key, state) => {
      if (!enabled) return warn('disabled', 'overrides are disabled here');
      inQuery.delete(key);
      inStorage.set(key, typeof state === 'boolean' ? { enabled: state } : { ...state });
      change([key]);
    },
    clear: (key) => {
      const keys = key === undefined ? [...inQuery.keys(), ...inStorage.keys()] : [key];
      for (const each of keys) {
        inQuery.delete(each);
        inStorage.delete(each);
      }
      if (enabled) change(keys);
    },
    openPanel: async () => (await import('./panel.ts')).openPanel(flags),
  };

  const atStart = [...inQuery.keys(), ...inStorage.keys(), ...inVariables.keys()];
  if (atStart.length) warn('start', `overridden here only: ${atStart.join(', ')}`);

  const own = {
    ...reads,
    all,
    overrides,
    toBootstrap: () => ({ environment, flags: { ...all() } }),
    onChange: ((listener, given) => {
      const stops = [
        client.onChange((event) => listener({ ...event, flags: all() }), given),
        changes.add(filtered(listener, given), given),
      ];
      return () => {
        for (const stop of stops) stop();
      };
    }) satisfies FlagsClient['onChange'],
  };
  // `OverriddenClient`: everything else, and what changes with time, is the client's own.
  const flags = Object.create(client, Object.getOwnPropertyDescriptors(own)) as OverriddenClient;
  return flags;
}

/** A value as people write it. */
function parse(text: string): FlagState {
  if (text === 'on' || text === 'true') return { enabled: true };
  if (text === 'off' || text === 'false') return { enabled: false };
  try {
    return { enabled: true, value: JSON.parse(text) as Json }; // what it gives is JSON
  } catch {
    return { enabled: true, value: text };
  }
}

/** The overrides in the address of the page. */
function readQuery(): Map<string, FlagState> {
  const { search = '' } = (globalThis as { location?: { search?: string } }).location ?? {}; // of a page
  const found = [...new URLSearchParams(search)].filter(([name]) => name.startsWith('halyard.'));
  return new Map(found.map(([name, text]) => [name.slice('halyard.'.length), parse(text)]));
}

/** What an earlier page has kept. A damaged text counts as none. */
function readStorage(storage: () => FlagStorage | undefined, name: string): Map<string, FlagState> {
  try {
    return new Map(Object.entries(readFlags(JSON.parse(storage()?.getItem(name) ?? '{}')).flags));
  } catch {
    return new Map();
  }
}

/** The overrides in the variables of the process, by the name of the variable. Deno would ask a person for permission. */
function readVariables(): Map<string, FlagState> {
  const { Deno, process } = globalThis as {
    readonly Deno?: { readonly permissions: { querySync(about: object): { readonly state: string } } };
    readonly process?: { readonly env: Readonly<Record<string, string | undefined>> };
  };
  try {
    const isReadable = !Deno || Deno.permissions.querySync({ name: 'env' }).state === 'granted';
    const all = isReadable ? Object.entries(process?.env ?? {}) : [];
    return new Map(
      all.flatMap(([name, text]) => (name.startsWith(PREFIX) && text ? [[name, parse(text)] as const] : [])),
    );
  } catch {
    return new Map();
  }
}

/** The variable that overrides a flag: `HALYARD_OVERRIDE_NEW_CHECKOUT` for `new-checkout`. */
function variableOf(key: string): string {
  return PREFIX + key.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_');
}
