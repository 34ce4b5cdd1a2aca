import { Management, temporaryFolder } from '@halyard/testing';
import { ENVIRONMENT, type Fixture, fillNode, flagKey, PROJECT } from '../fixture.ts';
import { mebibytes } from '../format.ts';
import { ReadProbe } from '../reads-wait.ts';
import type { Dimension, Figure, Scale, Size } from './dimension.ts';
import { addLogRows } from './fill-file.ts';
import { changeCost, managementCost, memory, singleRead, startCost, startGuarded } from './measure.ts';

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
  return [
    {
      title: 'Rows of the change log and of the audit log',
      input: 'Rows',
      sizes,
      remark: 'The rows are written into the file of the stopped node, not through the API.',
    },
    { title: 'The first page of the audit log, 50 entries', input: 'Rows', sizes: queries },
  ];
}

/** What is measured of so many rows. */
interface LogFigures {
  readonly node: Readonly<Record<string, Figure>>;
  readonly queries: Readonly<Record<string, Figure>>;
}

async function measureSize(scale: Scale, count: number): Promise<LogFigures> {
  using folder = temporaryFolder();
  const filled = await startGuarded(scale.machine, { dataFolder: folder.path });
  const { adminToken } = filled;
  let headers: Fixture['headers'];
  try {
    const fixture = await fillNode(filled, FLAGS);
    ({ headers } = fixture);
    await fixture.management.putState(PROJECT, ENVIRONMENT, flagKey(0), { enabled: false });
  } finally {
    await filled.stop();
  }

  const size = addLogRows(folder.path, count);
  const start = await startCost(scale.machine, folder.path, headers);

  const node = await startGuarded(scale.machine, { dataFolder: folder.path, adminToken });
  try {
    await using probe = await ReadProbe.start(scale.machine, singleRead(node, { headers }));
    const queries: Record<string, Figure> = {};
    for (const [name, filter] of Object.entries(QUERIES)) {
      queries[name] = await managementCost(node, probe, `/api/audit?limit=50&${filter}`);
    }

    return {
      queries,
      node: {
        file: { text: mebibytes(size), judged: [{ value: size, floor: 2 ** 20, isBytes: true }] },
        start,
        memory: memory(node.pid),
        'a change p50 / p99 (CPU)': await changeCost(node, { management: new Management(node), headers }),
        search: await managementCost(node, probe, '/api/search?q=flag-0001'),
      },
    };
  } finally {
    await node.stop();
  }
}
