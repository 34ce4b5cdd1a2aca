import { Management, temporaryFolder } from '@halyard/testing';
import { STRETCH } from '../../packages/server/src/storage/places.ts';
import { openFile } from '../fill-file.ts';
import { mebibytes } from '../format.ts';
import { ENVIRONMENT, flagKey, openFilled, openNode, PROJECT, requestsOf } from '../node.ts';
import { ReadProbe } from '../reads-wait.ts';
import type { Dimension, Figure, Scale, Size } from './dimension.ts';
import { changeCost, figure, managementCost, memory, startCost } from './measure.ts';

const SIZES = [1_000, 100_000, 1_000_000];
const QUICK_SIZES = [1_000, 10_000, 100_000];
const FLAGS = 100;

/** What people ask of the audit log: what is found at once, what is found nowhere, and what is found everywhere. */
const QUERIES: Readonly<Record<string, string>> = {
  'no filter': '',
  project: `project=${PROJECT}`,
  target: `project=${PROJECT}&target=${flagKey(7)}`,
  environment: `project=${PROJECT}&environment=${ENVIRONMENT}`,
  'actor, none': 'actor=nobody@example.com',
  'actor, many': 'actor=person7@example.com',
  'action, one': 'action=key',
  'since, none': 'since=2090-01-01T00:00:00Z',
  'text, none': 'q=nothing-like-this',
  'text, many': 'q=ticket',
};

/** Rows of the change log and of the audit log: start, changes, search, and the queries of the audit log. */
export async function measureLogRows(scale: Scale): Promise<readonly Dimension[]> {
  const sizes: Size[] = [];
  const queries: Size[] = [];
  for (const count of scale.isQuick ? QUICK_SIZES : SIZES) {
    scale.say(`scale: ${count} log rows`);
    const figures = await measureSize(scale, count);
    sizes.push({ input: count, label: String(count), figures: figures.node });
    queries.push({ input: count, label: String(count), figures: figures.queries });
  }
  const remark = 'The rows are written into the file of the stopped node, not through the API.';
  return [
    { title: 'Rows of the change log and of the audit log', input: 'Rows', sizes, remark },
    { title: 'The first page of the audit log, 50 entries', input: 'Rows', sizes: queries },
  ];
}

async function measureSize(scale: Scale, count: number) {
  using folder = temporaryFolder();
  const filled = await openFilled(scale, FLAGS, { dataFolder: folder.path });
  await filled.management.putState(PROJECT, ENVIRONMENT, flagKey(0), { enabled: false });
  await filled.stop();
  const { adminToken, headers } = filled;
  const size = addLogRows(folder.path, count);

  const start = await startCost(scale, folder.path, headers);
  await using node = await openNode(scale, { dataFolder: folder.path, adminToken });
  await using probe = await ReadProbe.start(scale.machine, requestsOf(node, headers).requests.one);
  const queries: Record<string, Figure> = {};
  for (const [name, filter] of Object.entries(QUERIES)) {
    queries[name] = await managementCost(node, probe, `/api/audit?limit=50&${filter}`);
  }
  return {
    queries,
    node: {
      file: figure(mebibytes(size), size, 2 ** 20, { isBytes: true }),
      start,
      memory: memory(node),
      'a change p50 / p99 (CPU)': await changeCost({ ...node, management: new Management(node) }),
      search: await managementCost(node, probe, '/api/search?q=flag-0001'),
    },
  };
}

/**
 * Copies of the last change of a flag, one row of the change log and one of the audit log each, as if that flag's
 * environment had been changed so many times. Returns the size of the file in bytes.
 */
function addLogRows(dataFolder: string, count: number): number {
  using file = openFile(dataFolder);
  const seq = `${file.value('SELECT seq FROM feed')} + n + 1`;
  const copied = { seq, at: 'at + n' };
  file.add(
    'change_log',
    count,
    { ...copied, change_id: `'copy-' || n`, revision: 'revision + n + 1' },
    { like: 'last' },
  );
  const entry = {
    id: `'copy-' || n`,
    operation_seq: seq,
    actor: `'person' || (n % 10) || '@example.com'`,
    target: `printf('flag-%05d', n % 100)`,
    // The indexes leave out an entry where one before it in its stretch has the same environment and actor.
    repeated: `CASE WHEN n >= ${STRETCH} AND (${seq}) % ${STRETCH} >= 10 THEN 1 END`,
    note: `CASE n % 50 WHEN 0 THEN 'ticket ' || n END`,
  };
  file.add('audit_log', count, { ...copied, ...entry }, { like: 'last' });

  file.run('UPDATE feed SET seq = seq + ?', count);
  file.run(
    `UPDATE environments SET revision = revision + ?
      WHERE id = (SELECT environment_id FROM change_log ORDER BY seq DESC LIMIT 1)`,
    count,
  );
  return file.size();
}
