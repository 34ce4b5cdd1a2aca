import { evaluate, type FlagEvaluation, type FlagMap, type FlagState } from '@halyard/protocol';
import type { BooleanReadOptions, FlagsClient, ReadOptions } from './client-types.ts';
import { FlagsError } from './errors.ts';
import { plainOf } from './flags.ts';
import { targetOf } from './options.ts';
import { optionOf, type Reporter } from './reporter.ts';
import type { Target } from './target.ts';

/** What reads are answered from. */
export interface ReadSource {
  /** The flags of now. */
  flags: FlagMap;
  /** What the client started with, if anything. */
  readonly bootstrap: FlagMap | undefined;
  readonly targetingKey: string | null | undefined;
  /** What counts reads, if the server asks for it; absent before the first read, and where reads are not reported. */
  target: Target | undefined;
  readonly reporter: Reporter;
  /** Called before each read; the first one begins the work. */
  readonly touch: () => void;
  /** Whether the flags are current. */
  readonly isReady: () => boolean;
  /** Whether there are any flags: then it gives something. */
  readonly hasMap: () => unknown;
}

type Reads = Pick<FlagsClient, 'isEnabled' | 'getValue' | 'evaluate' | 'getState' | 'all'>;

/** The reading half of a client. Not one of these throws. (Spec: S1.6) */
export function createReads(source: ReadSource): Reads {
  const { reporter, bootstrap, touch } = source;
  const reported = new Set<string>();

  const isBootstrap = (options?: ReadOptions) => optionOf(options, 'from') === 'bootstrap';
  const mapFor = (options?: ReadOptions): FlagMap => {
    touch();
    return (isBootstrap(options) && bootstrap) || source.flags;
  };
  const find = (key: unknown, options?: ReadOptions): FlagState | undefined => {
    const flags = mapFor(options);
    return typeof key === 'string' ? flags[key] : undefined;
  };
  const isFirst = (topic: string) => reported.size < reported.add(topic).size;

  const decide = (key: string, options?: ReadOptions, state = find(key, options)): FlagEvaluation => {
    const decided = evaluate(key, state, targetOf(options, source.targetingKey));
    const counts = state && source.target?.counts;
    if (counts) {
      let count = counts.get(key);
      if (!count) {
        count = [0, 0];
        counts.set(key, count);
      }
      count[decided.isOn ? 0 : 1]++;
    }
    if (decided.reason === 'untargeted' && isFirst(`% ${key}`))
      reporter.warn(key, `${key} has a partial rollout: pass a targetingKey`);
    return decided;
  };
  /** The value, if it has the default's type; another type is reported. */
  const pick = ({ value }: FlagEvaluation, key: string, defaultValue: unknown): unknown => {
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
    isEnabled: (key: string, options?: BooleanReadOptions) => {
      const state = find(key, options);
      return state ? decide(key, options, state).isOn : optionOf(options, 'fallback') === true;
    },
    getValue: (key: string, defaultValue: unknown, options?: ReadOptions) => {
      const value = pick(decide(key, options), key, defaultValue);
      return value === undefined ? defaultValue : value;
    },
    evaluate: (key: string, defaultValue: unknown, options?: ReadOptions) => {
      const state = find(key, options);
      const decided = decide(key, options, state);
      const { isOn: enabled, reason } = decided;
      const value = pick(decided, key, defaultValue);

      const errorCode = state
        ? value !== decided.value && 'type_mismatch'
        : (isBootstrap(options) ? bootstrap : source.hasMap())
          ? 'flag_not_found'
          : 'not_ready';
      return {
        key,
        value: value === undefined ? defaultValue : value,
        enabled,
        stale: isBootstrap(options) || !source.isReady(),
        reason: errorCode
          ? 'error'
          : enabled && value === undefined
            ? 'default'
            : reason === 'untargeted'
              ? 'split'
              : reason,
        ...(errorCode && { errorCode }),
        ...(state && { state }),
      };
    },
    getState: find,
    all: (options?: ReadOptions) => plainOf(mapFor(options)),
  };
  return reads as Reads; // the generic signatures say which `unknown` comes out for which went in
}

/** Whether a value has the JSON type of the default; `null` and `undefined` as defaults accept any type. */
export function fits(value: unknown, defaultValue: unknown): boolean {
  return defaultValue === null || defaultValue === undefined || kindOf(value) === kindOf(defaultValue);
}

function kindOf(value: unknown): string {
  try {
    return {}.toString.call(value);
  } catch {
    return ''; // a proxy that was revoked is of no kind
  }
}
