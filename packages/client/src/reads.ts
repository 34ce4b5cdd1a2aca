import type { FlagMap, FlagState } from '@halyard/protocol';
import type { FlagsClient, ReadOptions } from './client-types.ts';
import { FlagsError } from './errors.ts';
import { explain, fits, isOn, stateIn } from './evaluation.ts';
import type { Reporter } from './reporter.ts';

/** What reads are answered from. */
export interface ReadSource {
  /** The flags of now. */
  flags: FlagMap;
  /** What the client started with, if anything. */
  readonly bootstrap: FlagMap | undefined;
  readonly targetingKey: string | undefined;
  readonly reporter: Reporter;
  /** Called before each read; the first one begins the work. */
  readonly touch: () => void;
  readonly isReady: () => boolean;
  readonly hasMap: () => boolean;
}

type Reads = Pick<FlagsClient, 'isEnabled' | 'getValue' | 'evaluate' | 'getState' | 'all'>;

/** The reading half of a client. Not one of these throws. (Spec: client behaviour) */
export function createReads(source: ReadSource): Reads {
  const { reporter, bootstrap } = source;
  const told = new Set<string>();

  const find = (key: unknown, options: ReadOptions | undefined): FlagState | undefined => {
    source.touch();
    return stateIn(options?.from === 'bootstrap' ? (bootstrap ?? source.flags) : source.flags, key);
  };
  const once = (topic: string, tell: () => void) => {
    if (told.has(topic)) return;
    told.add(topic);
    tell();
  };
  const isOnFor = (state: FlagState | undefined, key: string, options: ReadOptions | undefined): boolean => {
    if (state === undefined) return false;
    const given = options?.targetingKey;
    const targetingKey = typeof given === 'string' ? given : source.targetingKey;
    if (
      state.rolloutPct !== undefined &&
      state.enabled &&
      targetingKey === undefined &&
      state.rolloutPct < 100
    )
      once(`rollout ${key}`, () =>
        reporter.warn(`rollout ${key}`, `${key} is rolled out in part, but was read without a targeting key`),
      );
    return isOn(state, key, targetingKey);
  };
  const choose = (state: FlagState | undefined, key: string, defaultValue: unknown, isOnNow: boolean) => {
    if (state?.value === undefined || !isOnNow) return defaultValue;
    if (fits(state.value, defaultValue)) return state.value;
    once(`type ${key}`, () =>
      reporter.report(
        new FlagsError('type_mismatch', `the value of ${key} is not of the type of its default`, {
          flagKey: key,
          retryable: false,
        }),
      ),
    );
    return defaultValue;
  };
  const reads = {
    isEnabled: (key: string, options?: ReadOptions) => isOnFor(find(key, options), key, options),
    getValue: (key: string, defaultValue: unknown, options?: ReadOptions) => {
      const state = find(key, options);
      return choose(state, key, defaultValue, isOnFor(state, key, options));
    },
    evaluate: (key: string, defaultValue: unknown, options?: ReadOptions) => {
      const state = find(key, options);
      const enabled = isOnFor(state, key, options);
      return {
        key,
        value: choose(state, key, defaultValue, enabled),
        enabled,
        stale: !source.isReady(),
        ...explain(state, enabled, defaultValue, source.hasMap()),
        ...(state && { state }),
      };
    },
    getState: (key: string) => find(key, undefined),
    all: () => {
      source.touch();
      return source.flags;
    },
  };
  return reads as Reads; // the generic signatures say which `unknown` comes out for which went in
}
