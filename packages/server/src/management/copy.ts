import type { Actor } from '../domain/audit.ts';
import type { Environment } from '../domain/environment.ts';
import type { StateOperation, StateText } from '../domain/flag.ts';
import type { StoreReader, StoreTransaction } from '../domain/store.ts';
import { commitWritten, type Written } from './commit.ts';
import { differencesOf, findBoth } from './compare.ts';
import type { ManagementContext } from './context.ts';
import { checkRevision, type ExpectedRevision } from './expected-revision.ts';
import { environmentNotFound, lockAll, type Place } from './lookup.ts';
import { requireChangeOf } from './permissions.ts';

/** What to copy into the environment of the place. */
export interface CopyInput extends Place {
  /** The environment to copy from. */
  readonly from: string;
  /** Only these flags; every flag without it. */
  readonly keys?: readonly string[];
  /** What becomes of flags that only the target has. */
  readonly extras: 'keep' | 'delete';
  /** Checked against the target's revision. */
  readonly expected: ExpectedRevision;
  /** `preview` only says what would be done. */
  readonly mode: 'apply' | 'preview';
}

/** One state that a copy changes. */
export interface CopyStep {
  readonly key: string;
  readonly before?: StateText;
  readonly after?: StateText;
}

/** What a copy did, or would do. */
export interface Copied {
  readonly environment: string;
  readonly revision: number;
  /** Keys whose state is now another; empty for a preview. */
  readonly changed: readonly string[];
  readonly differences: readonly CopyStep[];
}

/**
 * Makes the states of one environment those of another, as one change: one revision, one frame. `invalid_argument`,
 * `project_not_found`, `environment_not_found`, `revision_conflict`, `forbidden`, `confirmation_required`.
 */
export function copyStates(
  context: ManagementContext,
  actor: Actor,
  input: CopyInput,
): Promise<Written<Copied>> {
  const places = { project: input.project, from: input.from, to: input.environment };
  if (input.mode === 'preview') {
    return context.store.read(async (reader) => {
      const { from, to } = await findBoth(reader, places);
      const differences = await stepsOf(reader, input, { from, to });
      return { environment: to.name, revision: to.revision, changed: [], differences };
    });
  }
  return commitWritten(context, actor, async (transaction) => {
    const { from, to } = await lockBoth(transaction, await findBoth(transaction, places));
    requireChangeOf(actor, to);
    const differences = await stepsOf(transaction, input, { from, to });
    const operations = differences.map(({ key, after }): StateOperation => [key, after ?? null]);
    const { revision, changed } = await transaction.changeStates(to, operations);
    return { environment: to.name, revision, changed, differences };
  });
}

/** Locks also the source: deleted while this waits for the target, it would be copied as an empty one. */
async function lockBoth(
  transaction: StoreTransaction,
  { from, to }: { readonly from: Environment; readonly to: Environment },
) {
  const locked = await lockAll(transaction, [from, to]);
  const current = ({ id, name }: Environment): Environment => {
    const environment = locked.find((candidate) => candidate.id === id);
    if (environment === undefined) throw environmentNotFound(name);
    return environment;
  };
  return { from: current(from), to: current(to) };
}

async function stepsOf(
  reader: StoreReader,
  { keys, extras, expected }: CopyInput,
  environments: { readonly from: Environment; readonly to: Environment },
): Promise<readonly CopyStep[]> {
  checkRevision(expected, environments.to.revision);
  const wanted = keys === undefined ? undefined : new Set(keys);
  const differences = await differencesOf(reader, environments);
  return differences.flatMap(({ key, from: after, to: before }) => {
    if (wanted?.has(key) === false || (after === undefined && extras === 'keep')) return [];
    return {
      key,
      ...(before === undefined ? {} : { before }),
      ...(after === undefined ? {} : { after }),
    };
  });
}
