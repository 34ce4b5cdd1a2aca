import { temporaryFolder } from '@halyard/testing';
import type { Bench } from './bench.ts';
import { addKeys, addLogRows, changeFile, keyOf, type NodeFile } from './fill-file.ts';
import { milliseconds } from './format.ts';
import { ENVIRONMENT, fillFolder, flagKey, openNode, PROJECT, requestsOf } from './node.ts';
import { p99Of, ReadProbe } from './reads-wait.ts';
import { type Row, rowOf } from './row.ts';
import type { ProbeResult } from './workers/requests.ts';

const FLAGS = 50_000;
const KEYS = 100_000;
const ENVIRONMENTS = 1_000;
const AUDIT_ROWS = 1_000_000;
/** Another project, with many environments and few flags. */
const WIDE = 'wide';
const WIDE_FLAGS = 200;
const IMPORTED_FLAGS = 10_000;
const SECONDS = 2;
/** Few enough that the 200 connections of the probe outlast a stall of two seconds. */
const READS_PER_SECOND = 100;

/** A request of the management API; `round` counts its repetitions, for those that cannot be repeated as they are. */
interface Operation {
  readonly what: string;
  readonly path: string | ((round: number) => string);
  readonly body?: string;
}

const project = `/api/projects/${PROJECT}`;
const wide = `/api/projects/${WIDE}`;

const OPERATIONS: readonly Operation[] = [
  { what: `list of ${KEYS} keys`, path: `${project}/keys` },
  { what: `all ${FLAGS} flags of a project`, path: `${project}/flags` },
  { what: `${FLAGS} states of an environment`, path: `${project}/environments/${ENVIRONMENT}/flags` },
  { what: `export of ${FLAGS} flags, JSON`, path: `${project}/export` },
  { what: `export of ${FLAGS} flags, YAML`, path: `${project}/export?format=yaml` },
  { what: 'search everywhere', path: '/api/search?q=nothing-like-this' },
  { what: `list of ${ENVIRONMENTS} environments`, path: `${wide}/environments` },
  { what: `${WIDE_FLAGS} flags in ${ENVIRONMENTS} environments`, path: `${wide}/flags` },
  { what: `one flag in ${ENVIRONMENTS} environments`, path: `${wide}/flags/${flagKey(0)}` },
  { what: `audit, newest of ${AUDIT_ROWS}`, path: '/api/audit?limit=1000' },
  { what: 'audit, actor with no entries', path: '/api/audit?actor=nobody' },
  { what: 'audit, action with no entries', path: '/api/audit?action=relay' },
  { what: 'audit, time with no entries', path: '/api/audit?since=2100-01-01T00:00:00Z' },
  { what: 'audit, text with no entries', path: '/api/audit?q=nothing-like-this' },
  {
    what: `archiving a flag that is in ${ENVIRONMENTS} environments`,
    path: (round) => `${wide}/flags/${flagKey(round % WIDE_FLAGS)}/archive`,
    body: '',
  },
  {
    what: `import of ${IMPORTED_FLAGS} flags, YAML, preview`,
    path: '/api/import?dryRun=true',
    body: importedFile(),
  },
  { what: 'metrics', path: '/metrics' },
];

/** How long a read of one flag waits while management does its largest operations over and over. On SQLite. */
export async function measureManagement(bench: Bench): Promise<readonly Row[]> {
  using folder = temporaryFolder();
  const dataFolder = folder.path;
  bench.say('management: fills the database');
  const { adminToken, headers } = await fillFolder(bench, FLAGS, dataFolder);
  changeFile(dataFolder, fill);

  await using node = await openNode(bench, { dataFolder, adminToken });
  await using probe = new ReadProbe(bench.machine, requestsOf(node, headers).requests.one);
  const send = async ({ path, body }: Operation, round: number): Promise<void> => {
    const url = `${node.url}${typeof path === 'string' ? path : path(round)}`;
    const answer = await fetch(url, {
      headers: { Authorization: `Bearer ${node.adminToken}`, 'Content-Type': 'application/yaml' },
      ...(body !== undefined && { method: 'POST', body }),
    });
    if (!answer.ok) throw new Error(`${url} answered ${answer.status}: ${await answer.text()}`);
    for await (const _ of answer.body ?? []);
  };

  // A node loads the management interface and its thread with the first calls.
  for (const operation of OPERATIONS.slice(0, 2)) await send(operation, 0);
  const { reads: idle } = await probe.during(() => Bun.sleep(SECONDS * 1000), READS_PER_SECOND);
  const rows: Row[] = [rowOf('a read beside an idle management', waitsText, idle, { by: p99Of })];
  for (const operation of OPERATIONS) {
    const what = `a read during: ${operation.what}`;
    bench.say(`management: ${what}`);
    // The first one compiles.
    await send(operation, 0);
    let rounds = 0;
    const { reads } = await probe.during(async () => {
      const end = performance.now() + SECONDS * 1000;
      while (performance.now() < end) await send(operation, ++rounds);
    }, READS_PER_SECOND);

    const row = rowOf(what, waitsText, reads, {
      by: p99Of,
      beside: ['management idle', idle],
      // No operation lets a read wait longer, at the 99th percentile.
      goal: '<= 10 ms p99',
    });
    rows.push({ ...row, measured: `${row.measured} (${rounds} done)` });
  }
  return rows;
}

function waitsText({ p99Ms, maxMs }: ProbeResult): string {
  return `${milliseconds(p99Ms)} p99, ${milliseconds(maxMs)} max`;
}

function importedFile(): string {
  const flags = Array.from({ length: IMPORTED_FLAGS }, (_, index) => {
    const state = `{"enabled":true,"value":"text ${index}"}`;
    return `  ${flagKey(index)}:\n    environments:\n      production: ${state}`;
  });
  return ['halyard: 1', 'project: imported', 'environments: [production]', 'flags:', ...flags].join('\n');
}

/** Another project with many environments, many keys and a long audit log, written in seconds instead of an hour. */
function fill(file: NodeFile): void {
  addLogRows(file, AUDIT_ROWS);
  addKeys(
    file,
    Array.from({ length: KEYS }, (_, n) => keyOf(n)),
  );
  file.add('projects', 1, { id: `'p2'`, name: `'${WIDE}'`, created_at: '1' });
  file.add('environments', ENVIRONMENTS, {
    id: `'w' || n`,
    project_id: `'p2'`,
    name: `printf('env-%05d', n)`,
    revision: '0',
    position: 'n',
    created_at: '1',
  });
  file.add('flags', WIDE_FLAGS, {
    project_id: `'p2'`,
    key: `printf('flag-%05d', n)`,
    description: `'A flag that a bench made'`,
    tags: `'["bench"]'`,
    created_at: '1',
  });
  file.run(`INSERT INTO flag_states (environment_id, flag_key, project_id, state, revision, updated_at)
    SELECT environments.id, key, 'p2', '{"enabled":true,"value":"a text value"}', 0, 1 FROM flags
    JOIN environments ON environments.project_id = flags.project_id WHERE flags.project_id = 'p2'`);
}
