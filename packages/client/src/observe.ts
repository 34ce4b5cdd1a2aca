import type { BooleanReadOptions, FlagsClient, ReadOptions } from './client-types.ts';
import type { Evaluation } from './evaluation.ts';
import { targetOf } from './options.ts';
import { optionOf, warnOnce } from './reporter.ts';

/** A read, as listeners of {@link observeReads} get it. `value` is the result of the read, for `isEnabled` a boolean. */
export interface FlagRead extends Evaluation<unknown> {
  readonly environment: string;
  /** The user that the read was for. */
  readonly targetingKey: string | null | undefined;
}

/** Options of {@link observeReads}. */
export interface ObserveOptions {
  /**
   * Whether to call the listener only once for the same flag, user and result, as experiments count people. The last 10,000
   * of these are remembered. Default `false`.
   */
  readonly once?: boolean;
  /** Called with what the listener throws. Default: one warning on the console. */
  readonly onError?: (thrown: unknown) => void;
}

/** How many reads `once` remembers; it calls the listener again for older ones. */
const MAX_REMEMBERED = 10_000;

/** A listener is not called more often: one that reads the observed client would call itself forever. */
const MAX_READS_PER_SECOND = 10_000;

/**
 * Returns the same client with a listener that is called after each read by `isEnabled`, `getValue` and `evaluate`: for spans,
 * experiments and usage counts. The original client does not change, so its reads cost nothing extra. React hooks read at
 * every rendering, so the listener may be called often for the same read, unless you ask for `once`.
 *
 * A listener that throws, or whose promise rejects, does not affect the read: `onError` gets the error (default: one warning
 * on the console). Reads by the listener itself are not observed. After an `await`, it should read from its second argument,
 * the original client: reading the observed one would call it forever, so it is called for 10,000 reads a second at most, and
 * `onError` gets a `RangeError`.
 *
 * @example
 * ```ts
 * const expose = ({ key, value, targetingKey }: FlagRead) => experiment.exposed(key, value, targetingKey);
 * const flags = observeReads(client, expose, { once: true });
 * ```
 */
export function observeReads(
  client: FlagsClient,
  listener: (read: FlagRead, client: FlagsClient) => unknown,
  options?: ObserveOptions | ObserveOptions['onError'],
): FlagsClient {
  const { once = false, onError = warnOnce('a listener of reads threw') } =
    typeof options === 'function' ? { onError: options } : (options ?? {}); // from JavaScript it may be null
  const remembered = new Set<string>();
  let isTelling = false;
  let since = 0;
  let told = 0;
  const fail = (thrown: unknown) => {
    try {
      onError(thrown);
    } catch {
      // There is no other place to report it.
    }
  };

  /** Throws if there are too many reads: the listener itself may be reading. */
  const checkPace = () => {
    const now = Date.now();
    if (Math.abs(now - since) >= 1_000) [since, told] = [now, 0];
    if (++told > MAX_READS_PER_SECOND)
      throw new RangeError('too many reads a second for a listener: does it read the observed client?');
  };

  /** Whether the listener has heard of the same read, if it wants that only once. The oldest are forgotten. */
  const isRepeated = ({ key, enabled, reason, state }: Evaluation<unknown>, target: unknown) => {
    if (!once) return false;
    const id = JSON.stringify([key, target, reason, enabled, enabled && state?.value]);
    if (remembered.has(id)) return true;

    remembered.add(id);
    const [oldest] = remembered;
    if (oldest !== undefined && remembered.size > MAX_REMEMBERED) remembered.delete(oldest);
    return false;
  };

  const tell = <T>(evaluation: Evaluation<T>, read: ReadOptions | undefined): Evaluation<T> => {
    if (isTelling) return evaluation;
    isTelling = true;
    try {
      const { environment } = client;
      const targetingKey = targetOf(read, client.targetingKey);
      if (!isRepeated(evaluation, targetingKey)) {
        checkPace();
        Promise.resolve(listener({ ...evaluation, environment, targetingKey }, client)).catch(fail);
      }
    } catch (thrown) {
      fail(thrown);
    }
    isTelling = false;
    return evaluation;
  };

  const reads: Pick<FlagsClient, 'isEnabled' | 'getValue' | 'evaluate'> = {
    isEnabled: (key, read?: BooleanReadOptions) => {
      const evaluation = client.evaluate(key, null, read);
      const value = evaluation.state ? evaluation.enabled : optionOf(read, 'fallback') === true;
      const { rolloutPct = 100 } = evaluation.state ?? {};
      // Plain on/off flags report no missing value.
      const reason =
        evaluation.reason !== 'default' ? evaluation.reason : rolloutPct < 100 ? 'split' : 'static';
      tell({ ...evaluation, reason, value }, read);
      return value;
    },
    getValue: (key, defaultValue, read) => tell(client.evaluate(key, defaultValue, read), read).value,
    evaluate: (key, defaultValue, read) => tell(client.evaluate(key, defaultValue, read), read),
  };
  // Everything else, and what changes with time, is the client's own.
  return Object.create(client, Object.getOwnPropertyDescriptors(reads));
}
