import { evaluate, type Json } from '@halyard/protocol';
import { until } from '@halyard/testing';
import rollout from '../conformance/fixtures/rollout.json' with { type: 'json' };
import {
  ANY_ERROR,
  CASES,
  type Case,
  CHANGES,
  CONNECTIONS,
  FLAGS,
  ROLLOUTS,
  TARGETS,
  UNTARGETED,
} from './cases.ts';
import type { EvaluationAnswer, ProviderProgram } from './protocol.ts';
import type { World } from './world.ts';

/** What a published provider does differently, so that the cases stay strict for the others. */
export interface ProviderDifferences {
  /** Whether the provider loads all flags at once, with the tag of those that it has. */
  readonly isBulk?: true;
  /** Members of answers that the provider does not pass on, or not truly. */
  readonly omits?: readonly (keyof EvaluationAnswer)[];
  /** The error code for an answer without a value, where OFREP means the default in the code (ADR-0006). */
  readonly codeDefault?: string;
  /** Error codes that the provider gives in place of others. */
  readonly errorCodes?: Readonly<Record<string, string>>;
  /** Answers of their own, by the name of the case, with the reason. */
  readonly cases?: Readonly<
    Record<string, { readonly expected: EvaluationAnswer; readonly because: string }>
  >;
}

/** How a provider fared. */
export interface Outcome {
  readonly passed: number;
  /** How many cases expect another answer because of {@link ProviderDifferences}. */
  readonly known: number;
  /** A sentence for each failed case. */
  readonly failures: readonly string[];
}

/** Tries every case. The flags are as `openWorld` makes them before and after. */
export async function tryProvider(
  program: ProviderProgram,
  world: World,
  differences: ProviderDifferences,
  targets: readonly string[] = TARGETS,
): Promise<Outcome> {
  const { omits = [] } = differences;
  const failures: string[] = [];
  let known = 0;
  let total = 0;

  const attempt = async (name: string, work: () => Promise<string | undefined>) => {
    total++;
    const failure = await work().catch((error: unknown) => String(error));
    if (failure !== undefined) failures.push(`${name}: ${failure}`);
  };

  const attemptCase = async (each: Case) => {
    const expected = without(expectedOf(each, differences), omits);
    if (!Bun.deepEquals(expected, without(each.expected, omits))) known++;
    await attempt(each.name, async () => {
      await each.prepare?.(program, world);
      const ask = async () => without(await program.evaluate(each.read), [...omits, 'metadata']);
      let answer = await ask();
      if (each.prepare && !matches(answer, expected)) {
        // A provider that follows changes may be a moment late.
        const late = until('the answer changes', async () => {
          answer = await ask();
          return matches(answer, expected);
        });
        await late.catch(() => {}); // the last answer is shown below
      }
      if (matches(answer, expected)) return undefined;
      return `expected ${JSON.stringify(expected)}, got ${JSON.stringify(answer)}`;
    });
  };

  for (const each of CONNECTIONS) await attemptCase(each);
  await program.connect(world.base, { 'X-API-Key': world.key });
  for (const each of [...CASES, ...UNTARGETED]) await attemptCase(each);
  if (differences.isBulk) {
    await attempt('flags that have not changed are answered with 304', async () => {
      const statuses = await program.statuses();
      return statuses[304] ? undefined : `got ${JSON.stringify(statuses)}`;
    });
  }
  for (const key of ROLLOUTS) {
    await attempt(`${targets.length} targets of ${key}`, async () => {
      const values = await program.evaluateMany({ type: 'boolean', key, default: false }, targets);
      const wrong = targets.filter((target, index) => values[index] !== isIn(key, target));
      return wrong.length === 0 ? undefined : `${wrong.length} are wrong, as ${JSON.stringify(wrong[0])}`;
    });
  }
  if (!omits.includes('metadata')) {
    await attempt('metadata', async () => {
      const read = { type: 'boolean', key: 'half', default: false, targetingKey: 'user-1' } as const;
      const { metadata } = await program.evaluate(read);
      const expected = { environment: 'production', enabled: true, rolloutPct: 50 };
      return Bun.deepEquals(metadata, expected) ? undefined : `got ${JSON.stringify(metadata)}`;
    });
  }

  for (const each of CHANGES) await attemptCase(each);
  const { management } = world;
  await management.change('interop', 'production', FLAGS);
  return { passed: total - failures.length, known, failures };
}

function matches(answer: EvaluationAnswer, expected: EvaluationAnswer): boolean {
  if (expected.errorCode !== ANY_ERROR) return Bun.deepEquals(answer, expected);
  return answer.errorCode !== undefined && Bun.deepEquals(answer.value, expected.value);
}

/** What a provider with these differences answers a case. */
function expectedOf(
  { name, expected, isCodeDefault }: Case,
  { cases, codeDefault, errorCodes }: ProviderDifferences,
): EvaluationAnswer {
  if (cases?.[name]) return cases[name].expected;
  if (isCodeDefault && codeDefault !== undefined) return { value: expected.value, errorCode: codeDefault };
  const { errorCode } = expected;
  return errorCode === undefined
    ? expected
    : { ...expected, errorCode: errorCodes?.[errorCode] ?? errorCode };
}

/** An answer as it is compared: without members that are absent, `null` or not passed on. A failure has no reason. */
function without(answer: EvaluationAnswer, omitted: readonly (keyof EvaluationAnswer)[]): EvaluationAnswer {
  const failed = typeof answer.errorCode === 'string';
  const entries = Object.entries(answer).filter(
    ([name, value]) =>
      (name === 'value' || (value !== null && value !== undefined)) &&
      !(failed && ['reason', 'variant', 'metadata'].includes(name)) &&
      !(omitted as readonly string[]).includes(name),
  );

  // Of type EvaluationAnswer: its own members, without optional ones. `fromEntries` cannot know that.
  return Object.fromEntries(entries) as unknown as EvaluationAnswer;
}

/** Whether a target is in a rollout, by the function that the server and the client share, and by the fixture. */
function isIn(key: string, targetingKey: string): Json {
  const state = FLAGS.find((flag) => flag.key === key)?.state;
  if (!state) throw new Error(`the cases have no flag ${key}`);
  const { enabled, rolloutPct = 100 } = state;
  const { isOn } = evaluate(key, { enabled, rolloutPct }, targetingKey);
  const known = rollout.buckets.find((each) => each.flagKey === key && each.targetingKey === targetingKey);
  if (known && known.bucket < rolloutPct * 1000 !== isOn)
    throw new Error(`the fixture disagrees about ${key}`);
  return isOn;
}
