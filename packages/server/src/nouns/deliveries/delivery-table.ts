import { CLOCK_TOLERANCE_MS } from '../../domain/clock.ts';
import {
  type Delivery,
  type DeliveryFilter,
  type DeliveryReceipt,
  type DeliveryStore,
  type NodeStreams,
  PRESENCE_MS,
  RECEIPT_RETENTION,
  type StreamPresence,
} from '../../domain/delivery.ts';
import type { Database } from '../../storage/database.ts';
import { chunks, insertRows, placeholders, ROWS_PER_STATEMENT } from '../../storage/rows.ts';

const DAY_MS = 86_400_000;

const RECEIPT_COLUMNS = `r.seq, r.node_id AS node, r.environment_id AS "environmentId", r.streams, r.seen,
  r.slowest_ms AS "slowestMs", r.at`;

/** Receipts with their changes. A restored log may use a number again: the environment must be the same too. */
const DELIVERIES = `SELECT ${RECEIPT_COLUMNS}, c.revision, c.at AS "committedAt",
    p.name AS project, e.name AS environment
  FROM delivery_receipts r
    JOIN change_log c ON c.seq = r.seq AND c.environment_id = r.environment_id
    JOIN environments e ON e.id = r.environment_id
    JOIN projects p ON p.id = e.project_id`;

interface DeliveryRow extends DeliveryReceipt, Omit<Delivery, 'seq' | 'receipts'> {}

/** Receipts and presence over either engine. */
export class SqlDeliveryStore implements DeliveryStore {
  readonly #database: Database;

  /** Keeps them in `database`, whose schema must be current. */
  constructor(database: Database) {
    this.#database = database;
  }

  async saveReceipts(receipts: readonly DeliveryReceipt[]): Promise<void> {
    await insertRows(this.#database, {
      table: 'delivery_receipts',
      columns: ['seq', 'node_id', 'environment_id', 'streams', 'seen', 'slowest_ms', 'at'],
      rows: receipts.map((receipt) => [
        receipt.seq,
        receipt.node,
        receipt.environmentId,
        receipt.streams,
        receipt.seen,
        Math.round(receipt.slowestMs),
        receipt.at,
      ]),
      // One node reports a change once; only a restored log uses its number again.
      suffix: 'ON CONFLICT (seq, node_id) DO NOTHING',
    });
  }

  receipts(fromSeq: number, toSeq: number): Promise<readonly DeliveryReceipt[]> {
    return this.#database.query<DeliveryReceipt>(
      `SELECT ${RECEIPT_COLUMNS} FROM delivery_receipts r WHERE r.seq >= $1 AND r.seq <= $2 ORDER BY r.seq`,
      [fromSeq, toSeq],
    );
  }

  async delivery(seq: number): Promise<Delivery | undefined> {
    const text = `${DELIVERIES} WHERE r.seq = $1`;
    return group(await this.#database.query<DeliveryRow>(text, [seq]))[0];
  }

  async deliveries(
    projectId: string,
    { limit, from = 0, to = Number.MAX_SAFE_INTEGER }: DeliveryFilter,
  ): Promise<readonly Delivery[]> {
    const newest = `SELECT DISTINCT r.seq FROM delivery_receipts r
      JOIN environments e ON e.id = r.environment_id
      WHERE e.project_id = $1 AND r.seq >= $3 AND r.seq <= $4 ORDER BY r.seq DESC LIMIT $2`;
    const text = `${DELIVERIES} WHERE r.seq IN (${newest}) AND e.project_id = $1 ORDER BY r.seq DESC`;
    return group(await this.#database.query<DeliveryRow>(text, [projectId, limit, from, to]));
  }

  async savePresence(nodes: readonly NodeStreams[], seenAt: number): Promise<void> {
    await this.#database.transaction(async (tx) => {
      // First, so that counts of the same millisecond are replaced as well.
      for (const part of chunks(nodes, ROWS_PER_STATEMENT)) {
        const names = part.map(({ node }) => node);
        const text = `DELETE FROM stream_presence WHERE node_id IN (${placeholders(names.length)})`;
        await tx.query(text, names);
      }

      await insertRows(tx, {
        table: 'stream_presence',
        columns: ['node_id', 'environment_id', 'key_id', 'streams', 'seen_at'],
        rows: nodes.flatMap(({ node, streams }) =>
          streams.map((count) => [node, count.environmentId, count.keyId, count.streams, seenAt]),
        ),
        suffix: `ON CONFLICT (node_id, environment_id, key_id)
          DO UPDATE SET streams = excluded.streams, seen_at = excluded.seen_at`,
      });
    });
  }

  presence(now: number): Promise<readonly StreamPresence[]> {
    return this.#database.query<StreamPresence>(
      `SELECT node_id AS node, environment_id AS "environmentId", key_id AS "keyId", streams, seen_at AS "seenAt"
        FROM stream_presence WHERE seen_at >= $1 AND seen_at <= $2`,
      [now - PRESENCE_MS, now + CLOCK_TOLERANCE_MS],
    );
  }

  async removePresence(node: string): Promise<void> {
    await this.#database.query('DELETE FROM stream_presence WHERE node_id = $1', [node]);
  }

  async prune(now: number): Promise<void> {
    const { changes, days } = RECEIPT_RETENTION;
    await this.#database.query(
      'DELETE FROM delivery_receipts WHERE seq <= (SELECT seq FROM feed WHERE id = 1) - $1',
      [changes],
    );
    await this.#database.query('DELETE FROM delivery_receipts WHERE at < $1', [now - days * DAY_MS]);
    await this.#database.query('DELETE FROM stream_presence WHERE seen_at < $1', [now - PRESENCE_MS]);
  }
}

/** Rows to changes, in the order of the rows; receipts by node, sorted here because collations differ. */
function group(rows: readonly DeliveryRow[]): Delivery[] {
  const bySeq = new Map<number, Omit<Delivery, 'receipts'> & { readonly receipts: DeliveryReceipt[] }>();
  for (const { project, environment, revision, committedAt, ...receipt } of rows) {
    const { seq } = receipt;
    const known = bySeq.get(seq);
    if (known !== undefined) known.receipts.push(receipt);
    else bySeq.set(seq, { seq, project, environment, revision, committedAt, receipts: [receipt] });
  }

  const deliveries = [...bySeq.values()];
  for (const { receipts } of deliveries) receipts.sort((a, b) => (a.node < b.node ? -1 : 1));
  return deliveries;
}
