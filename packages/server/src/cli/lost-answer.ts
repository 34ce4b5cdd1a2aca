import { setTimeout as sleep } from 'node:timers/promises';
import { findOutcome, type LostOutcome } from '@halyard/protocol';
import { CliError } from './cli-error.ts';

/** A write of which the answer was lost, or says nothing about the change. Its message says why. */
export class LostAnswer extends CliError {}

/** How long the server may be away before the outcome stays unknown, in milliseconds. */
const AWAY_MS = 5_000;

/** How long to ask at most, in milliseconds: an import may still be running. */
const MOST_MS = 180_000;

type Lookup = Parameters<typeof findOutcome>[0];

/** The error of a write without an answer, with what became of the change. The options are those of `findOutcome`. */
export async function withOutcome(
  lost: LostAnswer,
  {
    ask,
    close,
    pause = (ms) => sleep(ms),
    now = () => performance.now(),
  }: Omit<Lookup, 'mostMs' | 'pause'> & Partial<Pick<Lookup, 'pause'>>,
): Promise<CliError> {
  let answeredAt = now();
  const whileHere = async <T>(answer: Promise<T>) => {
    const found = await answer;
    if (found !== undefined) answeredAt = now();
    else if (now() - answeredAt > AWAY_MS) return 'unknown';
    return found;
  };

  const outcome = await findOutcome({
    ask: () => whileHere(ask()),
    close: () => whileHere(close()),
    pause,
    now,
    mostMs: MOST_MS,
  });

  const { exitCode, code, docs, cause } = lost;
  return new CliError(`${lost.message} ${describe(outcome)}`, {
    exitCode,
    cause,
    ...(code !== undefined && { code }),
    ...(docs !== undefined && { docs }),
  });
}

function describe(outcome: LostOutcome): string {
  if (outcome === 'unknown')
    return 'The change may have been made. Check "halyard audit" before you run the command again.';
  if (outcome === 'none') return 'The change was not made: you can run the command again.';
  const [first] = outcome;
  const what =
    outcome.length === 1 ? `The change was made: it is number ${first}.` : 'The changes were made:';
  const them = outcome.length === 1 ? '' : ` they are ${outcome.join(', ')}.`;
  return `${what}${them} Do not run the command again. If it was to print a new secret, revoke that one first.`;
}
