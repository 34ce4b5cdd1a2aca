import type { BooleanReadOptions, FlagsClient, ReadOptions } from './client-types.ts';
import type { Evaluation } from './evaluation.ts';
import { optionOf, targetOf } from './options.ts';
import { warnOnce } from './reporter.ts';

/** A read, as a listener of {@link observeReads} hears of it. `value` is what the read gave; `isEnabled` gives a boolean. */
export interface FlagRead extends Evaluation<unknown> {
  readonly environment: string;
  /** Whom the read was for. */
  readonly targetingKey: string | null | undefined;
}

/** A listener hears of no more: one that reads the client that it listens to would never end. */
const MAX_READS_PER_SECOND = 10_000;

/**
 * The same client, with a listener that hears of each read by `isEnabled`, `getValue` and `evaluate`, once it has been
 * answered: for spans, experiments and counts of what is used. The client that was passed is not changed, so reads that
 * are not observed cost nothing. React hooks read at every rendering, so the listener may hear of a read many times.
 *
 * A listener that throws, or whose promise rejects, disturbs no read: `onError` gets what it threw (default: one warning
 * on the console). Reads by the listener itself are not observed; once it has awaited something, it should read from the
 * client that is its second argument. A listener that reads the observed client then would hear of itself for ever, so it
 * hears of 10,000 reads a second at most, and `onError` gets a `RangeError`.
 */
export function observeReads(
  client: FlagsClient,
  listener: (read: FlagRead, client: FlagsClient) => unknown,
  onError: (thrown: unknown) => void = warnOnce('a listener of reads threw'),
): FlagsClient {
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
  /** Throws when the listener has heard of too many reads: it may be what reads. */
  const checkPace = () => {
    const now = Date.now();
    if (Math.abs(now - since) >= 1_000) [since, told] = [now, 0];
    if (++told > MAX_READS_PER_SECOND)
      throw new RangeError('too many reads a second for a listener: does it read the observed client?');
  };
  const tell = <T>(evaluation: Evaluation<T>, options: ReadOptions | undefined): Evaluation<T> => {
    if (isTelling) return evaluation;
    isTelling = true;
    try {
      checkPace();
      const { environment } = client;
      const targetingKey = targetOf(options, client.targetingKey);
      Promise.resolve(listener({ ...evaluation, environment, targetingKey }, client)).catch(fail);
    } catch (thrown) {
      fail(thrown);
    }
    isTelling = false;
    return evaluation;
  };
  const reads: Pick<FlagsClient, 'isEnabled' | 'getValue' | 'evaluate'> = {
    isEnabled: (key, options?: BooleanReadOptions) => {
      const evaluation = client.evaluate(key, null, options);
      const value = evaluation.state ? evaluation.enabled : optionOf(options, 'fallback') === true;
      const { rolloutPct = 100 } = evaluation.state ?? {};
      // A flag that has no value needs none here.
      const reason =
        evaluation.reason !== 'default' ? evaluation.reason : rolloutPct < 100 ? 'split' : 'static';
      tell({ ...evaluation, reason, value }, options);
      return value;
    },
    getValue: (key, defaultValue, options) =>
      tell(client.evaluate(key, defaultValue, options), options).value,
    evaluate: (key, defaultValue, options) => tell(client.evaluate(key, defaultValue, options), options),
  };
  // Everything else, and what changes with time, is the client's own.
  return Object.create(client, Object.getOwnPropertyDescriptors(reads));
}
