import { isAboutPeople } from '../../domain/audit.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { AuditedOperation, StoreReader } from '../../domain/store.ts';
import type { ManagementContext } from '../context.ts';
import { type NamedAuditEntry, withNames } from './audit.ts';
import { unrevertible } from './revertible.ts';

/** One change: everything that one operation did. */
export interface ChangeRecord {
  /** Of its last change-log row. */
  readonly seq: number;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly actor: string;
  readonly note?: string;
  /** Present where all of it happened in one project, or in one environment. */
  readonly project?: string;
  readonly environment?: string;
  /** The revision it made of that environment, as long as the change log reaches back to it. */
  readonly revision?: number;
  /** Whether it is of a kind that can be reverted. */
  readonly revertible: boolean;
  /** In the order in which they were done. */
  readonly entries: readonly NamedAuditEntry[];
}

/** The change that wrote row `seq` of the change log. `not_found`, also when all of it is about people. */
export function getChange(
  context: ManagementContext,
  seq: number,
  { withoutPeople }: { readonly withoutPeople: boolean },
): Promise<ChangeRecord> {
  return context.store.read(async (reader) => {
    const operation = await findOperation(reader, seq);
    if (!withoutPeople) return describe(reader, operation);
    const entries = operation.entries.filter(({ action }) => !isAboutPeople(action));
    if (entries.length === 0) throw noChange(seq);
    return describe(reader, { ...operation, entries });
  });
}

/** The operation that wrote row `seq` of the change log, or `not_found`. */
export async function findOperation(reader: StoreReader, seq: number): Promise<AuditedOperation> {
  const operation = await reader.operation(seq);
  if (operation !== undefined) return operation;
  throw noChange(seq);
}

function noChange(seq: number): ServiceError {
  return new ServiceError(
    'not_found',
    `There is no change ${seq}: the audit log has the numbers of all of them.`,
  );
}

async function describe(reader: StoreReader, operation: AuditedOperation): Promise<ChangeRecord> {
  const entries = await withNames(reader, operation.entries);
  const [first] = entries;
  if (first === undefined) throw new Error('an operation without entries was read');
  const { at, actor, note } = first;
  const project = onlyOne(entries.map((entry) => entry.project));
  const environment = onlyOne(entries.map((entry) => entry.environment));
  const [revision] = operation.revisions.values();
  return {
    ...{ seq: operation.seq, at, actor },
    ...(note === undefined ? {} : { note }),
    ...(project === undefined ? {} : { project }),
    ...(environment === undefined ? {} : { environment }),
    ...(environment === undefined || revision === undefined ? {} : { revision }),
    revertible: unrevertible(operation) === undefined,
    entries,
  };
}

/** The one name that all have who have any; `undefined` when there are two. */
function onlyOne(names: readonly (string | undefined)[]): string | undefined {
  const different = new Set(names.filter((name) => name !== undefined));
  return different.size === 1 ? [...different][0] : undefined;
}
