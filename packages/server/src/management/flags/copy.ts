import type { Actor } from '../../domain/audit.ts';
import type { Environment, StateOperation, StateText } from '../../domain/project.ts';
import type { StoreReader, StoreTransaction } from '../../domain/store.ts';
import type { ManagementContext } from '../context.ts';
import { type EnvironmentPlace, environmentNotFound, lockAll } from '../lookup.ts';
import { requireChangeOf } from '../permissions.ts';
import { type Written, writeRecord } from '../write.ts';
import { type ComparedPlaces, differencesOf, findBoth } from './compare.ts';
import { checkRevision, type ExpectedRevision } from './expected-revision.ts';

/** What to copy into the environment of the place. */
export interface CopyInput extends EnvironmentPlace {
  /** The environment to copy from. */
  readonly from: string;
  /** Only these flags; every flag without it. */
  readonly keys?: readonly string[];
  /** What becomes of flags that only the target has. */
  readonly extras: 'keep' | 'delete';
  /** Checked against the target's revision. */
  readonly expected: ExpectedRevision;
  /** Checked against the revision of `from`, so that nothing is copied that was not seen. Absent: as it is. */
  readonly fromRevision?: number;
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
  /** The revision of the environment that was copied from. */
  readonly fromRevision: number;
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
      const { revision } = to;
      return { environment: to.name, revision, fromRevision: from.revision, changed: [], differences };
    });
  }
  return writeRecord(context, actor, async (transaction) => {
    const { from, to } = await lockBoth(transaction, actor, places);
    const differences = await stepsOf(transaction, input, { from, to });
    const operations = differences.map(({ key, after }): StateOperation => [key, after ?? null]);
    const { revision, changed } = await transaction.changeStates(to, operations);
    return { environment: to.name, revision, fromRevision: from.revision, changed, differences };
  });
}

/** Both are held: what is read of the one is what the other becomes. One deleted meanwhile would read as empty. */
async function lockBoth(transaction: StoreTransaction, actor: Actor, places: ComparedPlaces) {
  const { from, to } = await findBoth(transaction, places);
  const locked = await lockAll(transaction, [from, to]);
  const held = ({ id, name }: Environment): Environment => {
    const environment = locked.find((candidate) => candidate.id === id);
    if (environment === undefined) throw environmentNotFound(name);
    return environment;
  };
  requireChangeOf(actor, held(to));
  return { from: held(from), to: held(to) };
}

async function stepsOf(
  reader: StoreReader,
  { keys, extras, expected, fromRevision }: CopyInput,
  environments: { readonly from: Environment; readonly to: Environment },
): Promise<readonly CopyStep[]> {
  checkRevision(expected, environments.to.revision);
  if (fromRevision !== undefined) checkRevision({ present: [fromRevision] }, environments.from.revision);
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
