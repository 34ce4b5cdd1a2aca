import { defined, type ProposalStatus } from '@halyard/protocol';
import type { Parameter, Queryable } from '../../storage/database.ts';
import { type NullableColumns, placeholders, withoutNulls } from '../../storage/rows.ts';
import type { Tx } from '../../storage/tx.ts';
import type { GivenApproval, Proposal, ProposalFilter, Settlement } from './proposal.ts';

/** Columns that hold JSON, and a number that is a boolean. */
type Stored = 'environments' | 'request' | 'effects' | 'approvals';
type ProposalRow = NullableColumns<Omit<Proposal, Stored | 'hold'>> & {
  readonly [K in Stored]: string;
} & { readonly hold: number };

// The change that a proposal made is found through its audit entry: the number is not known before the commit.
const COLUMNS = `id, project_id AS "projectId", environments, operation, request, effects, author, person, note,
    required, hold, approvals, status, created_at AS "createdAt", expires_at AS "expiresAt",
    settled_at AS "settledAt", settled_by AS "settledBy", outcome`;

const SELECT = `SELECT ${COLUMNS}, (SELECT max(operation_seq) FROM audit_log
      WHERE audit_log.project_id = proposals.project_id AND target = proposals.id
      AND action IN ('proposal.applied', 'proposal.emergency')) AS seq
  FROM proposals`;

/** Flags that the audit entry of a proposal names. */
const NAMED = 20;

/** Settled proposals of a project that are kept when another one is created. The audit log has all. */
const KEPT = 200;

const SETTLED = 'project_id = $1 AND settled_at IS NOT NULL';

const PRUNE = `DELETE FROM proposals WHERE ${SETTLED} AND id NOT IN
  (SELECT id FROM proposals WHERE ${SETTLED} ORDER BY settled_at DESC, id DESC LIMIT $2)`;

function toProposal({ environments, request, effects, approvals, hold, ...row }: ProposalRow): Proposal {
  return {
    ...withoutNulls<Omit<Proposal, Stored | 'hold'>>(row),
    environments: JSON.parse(environments),
    request: JSON.parse(request),
    effects: JSON.parse(effects),
    approvals: JSON.parse(approvals),
    hold: hold !== 0,
  };
}

async function select(
  db: Queryable,
  condition: string,
  parameters: readonly Parameter[],
): Promise<Proposal[]> {
  return (await db.query<ProposalRow>(`${SELECT} ${condition}`, parameters)).map(toProposal);
}

/** Proposals that wait for a decision, the oldest first; then settled ones, the last settled first. */
export async function readProposals(
  db: Queryable,
  { projectId, status, settled }: ProposalFilter,
): Promise<readonly Proposal[]> {
  const isWanted = (proposal: Proposal) =>
    status === undefined || status === 'waiting' || proposal.status === status;
  const waiting = await select(db, 'WHERE project_id = $1 AND settled_at IS NULL ORDER BY created_at, id', [
    projectId,
  ]);
  if (status === 'waiting') return waiting;

  const past = await select(db, `WHERE ${SETTLED} ORDER BY settled_at DESC, id DESC LIMIT $2`, [
    projectId,
    settled,
  ]);
  return [...waiting, ...past].filter(isWanted);
}

/** How many open proposals a project has: without reading what they change, which can be large. */
export async function countOpen(db: Queryable, projectId: string): Promise<number> {
  const [row] = await db.query<{ open: number }>(
    `SELECT count(*) AS open FROM proposals WHERE project_id = $1 AND status = 'open'`,
    [projectId],
  );
  return row?.open ?? 0;
}

/** The proposals of these authors that can still be applied, in all projects, the oldest first. */
export async function readProposalsBy(
  db: Queryable,
  authors: readonly string[],
): Promise<readonly Proposal[]> {
  const by = placeholders(authors.length);
  return select(
    db,
    `WHERE status IN ('open', 'approved') AND author IN (${by}) ORDER BY created_at, id`,
    authors,
  );
}

/** One proposal, of any project. */
export async function readProposal(db: Queryable, id: string): Promise<Proposal | undefined> {
  const [proposal] = await select(db, 'WHERE id = $1', [id]);
  return proposal;
}

/** The next ones to expire, of all projects; `after` skips it and those before it. */
export function readNextToExpire(
  db: Queryable,
  limit: number,
  after?: Pick<Proposal, 'id' | 'expiresAt'>,
): Promise<readonly Proposal[]> {
  return select(
    db,
    `WHERE settled_at IS NULL AND status <> 'emergency' AND (expires_at > $2 OR (expires_at = $2 AND id > $3))
      ORDER BY expires_at, id LIMIT $1`,
    [limit, after?.expiresAt ?? -1, after?.id ?? ''],
  );
}

/** The proposal as it is once its row is locked; `undefined` when it does not exist. */
export async function lockProposal(tx: Tx, id: string): Promise<Proposal | undefined> {
  const [row] = await tx.query<ProposalRow>(
    `UPDATE proposals SET status = status WHERE id = $1 RETURNING ${COLUMNS}, NULL AS seq`,
    [id],
  );
  return row && toProposal(row);
}

/** Inserts a proposal, and forgets the oldest settled ones of its project beyond the limit. */
export async function insertProposal(
  tx: Tx,
  proposal: Proposal,
  action: 'proposal.created' | 'proposal.emergency',
): Promise<void> {
  const { id, projectId, environments, operation, author, person, note, required, status } = proposal;

  await tx.query(
    `INSERT INTO proposals (id, project_id, environments, operation, request, effects, author, person, note,
        required, hold, approvals, status, created_at, expires_at)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`,
    [
      ...[id, projectId, JSON.stringify(environments), operation, JSON.stringify(proposal.request)],
      ...[JSON.stringify(proposal.effects), author, person ?? null, note ?? null, required],
      ...[proposal.hold ? 1 : 0, '[]', status, proposal.createdAt, proposal.expiresAt],
    ],
  );
  await tx.query(PRUNE, [projectId, KEPT]);

  const after = JSON.stringify({
    operation,
    required,
    hold: proposal.hold || undefined,
    ...namedFlags(proposal),
  });
  tx.journal.audit({ action, ...placeOf(proposal), target: id, after });
}

/** Adds a person's approval to a locked proposal. The entry is in the journal of that person. */
export async function storeApproval(
  tx: Tx,
  proposal: Proposal,
  {
    given,
    status,
    journal = tx.journal,
  }: {
    readonly given: GivenApproval;
    readonly status: ProposalStatus;
    readonly journal?: Tx['journal'];
  },
): Promise<void> {
  const { id } = proposal;
  const approvals = JSON.stringify([...proposal.approvals, given]);
  await tx.query('UPDATE proposals SET approvals = $2, status = $3 WHERE id = $1', [id, approvals, status]);
  const after = JSON.stringify(namedFlags(proposal));
  journal.audit({ action: 'proposal.approved', ...placeOf(proposal), target: id, after });
}

/** Ends a locked proposal. */
export async function storeSettlement(tx: Tx, proposal: Proposal, settlement: Settlement): Promise<void> {
  const { id, author, approvals } = proposal;
  const { status, at, by, outcome } = settlement;
  await tx.query(
    'UPDATE proposals SET status = $2, settled_at = $3, settled_by = $4, outcome = $5 WHERE id = $1',
    [id, status, at, by, outcome ?? null],
  );

  // The entries of the change itself name the flags when it was applied.
  const named =
    status === 'applied' ? { approvedBy: approvals.map((each) => each.by) } : namedFlags(proposal);
  const after = JSON.stringify({ author, ...named, ...defined({ reason: outcome }) });
  tx.journal.audit({ action: `proposal.${status}`, ...placeOf(proposal), target: id, after });
}

/** The first flags that a proposal changes, for its audit entries. */
function namedFlags({ effects }: Proposal): { readonly changes?: readonly { readonly key: string }[] } {
  const flags = effects.filter(({ action }) => action.startsWith('flag.')).slice(0, NAMED);
  return flags.length === 0 ? {} : { changes: flags.map(({ target: key }) => ({ key })) };
}

/** The place of an entry: its environment, where it is one. */
function placeOf({ projectId, environments: [environmentId, ...others] }: Proposal) {
  return { projectId, ...(others.length > 0 ? {} : defined({ environmentId })) };
}
