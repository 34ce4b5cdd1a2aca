import { addLogRows } from '../fill-file.ts';
import { mebibytes } from '../format.ts';
import { ENVIRONMENT, flagKey, PROJECT } from '../node.ts';
import { type Dimension, eachCount, type Figure, type Figures, type Scale } from './dimension.ts';
import { changeCost, figure, managementCost, measureFilled, memory, type Side } from './measure.ts';

const SIZES = { all: [1_000, 100_000, 1_000_000], quick: [1_000, 10_000, 100_000] };
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
  const sizes = await eachCount(scale, 'log rows', SIZES, async (count) => {
    let bytes = 0;
    const figures = await measureFilled(scale, FLAGS, measureNode, (file) => {
      addLogRows(file, count);
      bytes = file.value('SELECT page_count * page_size FROM pragma_page_count, pragma_page_size');
    });
    return { file: figure(mebibytes(bytes), bytes, 2 ** 20, { isBytes: true }), ...figures };
  });

  const columns = (areQueries: boolean) =>
    sizes.map((size) => {
      const some = Object.entries(size.figures).filter(([column]) => column in QUERIES === areQueries);
      return { ...size, figures: Object.fromEntries(some) };
    });
  const remark = 'The rows are written into the file of the stopped node, not through the API.';
  return [
    { title: 'Rows of the change log and of the audit log', input: 'Rows', sizes: columns(false), remark },
    { title: 'The first page of the audit log, 50 entries', input: 'Rows', sizes: columns(true) },
  ];
}

async function measureNode(side: Side): Promise<Figures> {
  const queries: Record<string, Figure> = {};
  for (const [name, filter] of Object.entries(QUERIES)) {
    queries[name] = await managementCost(side, `/api/audit?limit=50&${filter}`);
  }
  return {
    ...queries,
    memory: memory(side.node),
    'a change p50 / p99 (CPU)': await changeCost(side.node),
    search: await managementCost(side, '/api/search?q=flag-0001'),
  };
}
