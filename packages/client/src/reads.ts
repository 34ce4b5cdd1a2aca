import { type FlagMap, type FlagState, isInRollout } from '@halyard/protocol';
import type { FlagsClient, ReadOptions } from './client-types.ts';
import { FlagsError } from './errors.ts';
import { optionOf } from './options.ts';
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
  /** Whether the flags are current. */
  readonly isReady: () => boolean;
  /** Whether there are any flags. */
  readonly hasMap: () => boolean;
}

type Reads = Pick<FlagsClient, 'isEnabled' | 'getValue' | 'evaluate' | 'getState' | 'all'>;

/** The reading half of a client. Not one of these throws. (Spec: client behaviour) */
export function createReads(source: ReadSource): Reads {
  const { reporter, bootstrap, touch } = source;
  const told = new Set<string>();

  const find = (key: unknown, options?: ReadOptions): FlagState | undefined => {
    touch();
    const flags = optionOf(options, 'from') === 'bootstrap' && bootstrap ? bootstrap : source.flags;
    return typeof key === 'string' ? flags[key] : undefined;
  };
  const isFirst = (topic: string) => told.size < told.add(topic).size;

  const isOn = (state: FlagState | undefined, key: string, options?: ReadOptions): boolean => {
    if (!state?.enabled) return false;
    const { rolloutPct = 100 } = state;
    if (rolloutPct >= 100) return true;
    const given = optionOf(options, 'targetingKey');
    const targetingKey = typeof given === 'string' ? given : source.targetingKey;
    if (targetingKey !== undefined) return isInRollout(key, targetingKey, rolloutPct);
    // Nobody to decide for: the specified behaviour of a boolean read is the switch itself.
    if (isFirst(`% ${key}`)) reporter.warn(key, `${key} is rolled out in part: give a targetingKey`);
    return true;
  };
  /** The value, if the flag is on and has one that may stand in for the default; one of another kind is reported. */
  const pick = (
    state: FlagState | undefined,
    key: string,
    defaultValue: unknown,
    isEnabled: boolean,
  ): unknown => {
    const value = isEnabled ? state?.value : undefined;
    if (value === undefined || fits(value, defaultValue)) return value;
    if (isFirst(key))
      reporter.report(
        new FlagsError('type_mismatch', `${key} is of another type than its default`, {
          flagKey: key,
          retryable: false,
        }),
      );
    return undefined;
  };
  const reads = {
    isEnabled: (key: string, options?: ReadOptions) => isOn(find(key, options), key, options),
    getValue: (key: string, defaultValue: unknown, options?: ReadOptions) => {
      const state = find(key, options);
      const value = pick(state, key, defaultValue, isOn(state, key, options));
      return value === undefined ? defaultValue : value;
    },
    evaluate: (key: string, defaultValue: unknown, options?: ReadOptions) => {
      const state = find(key, options);
      const enabled = isOn(state, key, options);
      const value = pick(state, key, defaultValue, enabled);
      const errorCode = !state
        ? source.hasMap()
          ? 'flag_not_found'
          : 'not_ready'
        : enabled && value !== state.value
          ? 'type_mismatch'
          : undefined;
      return {
        key,
        value: value === undefined ? defaultValue : value,
        enabled,
        stale: optionOf(options, 'from') === 'bootstrap' || !source.isReady(),
        reason: errorCode
          ? 'error'
          : !state?.enabled
            ? 'disabled'
            : enabled && value === undefined
              ? 'default'
              : (state.rolloutPct ?? 100) < 100
                ? 'split'
                : 'static',
        ...(errorCode && { errorCode }),
        ...(state && { state }),
      };
    },
    getState: find,
    all: () => {
      touch();
      return source.flags;
    },
  };
  return reads as Reads; // the generic signatures say which `unknown` comes out for which went in
}

/** Whether a value may stand in for a default: the same kind of JSON; a default that is nothing takes anything. */
function fits(value: unknown, defaultValue: unknown): boolean {
  return defaultValue === null || defaultValue === undefined || kindOf(value) === kindOf(defaultValue);
}

function kindOf(value: unknown): string {
  try {
    return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
  } catch {
    return ''; // a proxy that was revoked is of no kind
  }
}
