import { Database } from 'bun:sqlite';
import { join } from 'node:path';
import { startNode as startOurs, temporaryFolder } from '@halyard/testing';
import type { Bench } from './bench.ts';
import { ENVIRONMENT, flagKey, PROJECT } from './fixture.ts';
import { milliseconds, times, verdict } from './format.ts';
import { pin } from './machine.ts';
import type { Row } from './row.ts';
import { Worker } from './worker.ts';
import type { ProbeCommands, ProbeResult } from './workers/latency-probe.ts';

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
/** No management operation lets a read wait longer, at the 99th percentile. */
const GOAL_MS = 10;

/** A checkout to compare with, such as the one before a change; without it, reads beside an idle management are the reference. */
const BASE = process.env.HALYARD_BENCH_BASE;

type StartNode = typeof startOurs;
type Send = (method: string, path: string, body?: string) => Promise<void>;

/** One management operation; `round` counts its repetitions, for those that cannot be repeated as they are. */
interface Operation {
  readonly what: string;
  readonly run: (send: Send, round: number) => Promise<void>;
}

const project = `/api/projects/${PROJECT}`;
const wide = `/api/projects/${WIDE}`;

const OPERATIONS: readonly Operation[] = [
  get(`list of ${KEYS} keys`, `${project}/keys`),
  get(`all ${FLAGS} flags of a project`, `${project}/flags`),
  get(`${FLAGS} states of an environment`, `${project}/environments/${ENVIRONMENT}/flags`),
  get(`export of ${FLAGS} flags, JSON`, `${project}/export`),
  get(`export of ${FLAGS} flags, YAML`, `${project}/export?format=yaml`),
  get('search everywhere', '/api/search?q=nothing-like-this'),
  get(`list of ${ENVIRONMENTS} environments`, `${wide}/environments`),
  get(`${WIDE_FLAGS} flags in ${ENVIRONMENTS} environments`, `${wide}/flags`),
  get(`one flag in ${ENVIRONMENTS} environments`, `${wide}/flags/${flagKey(0)}`),
  get(`audit, newest of ${AUDIT_ROWS}`, '/api/audit?limit=1000'),
  get('audit, actor without entries', '/api/audit?actor=nobody'),
  get('audit, action without entries', '/api/audit?action=relay'),
  get('audit, time without entries', '/api/audit?since=2100-01-01T00:00:00Z'),
  get('audit, text without entries', '/api/audit?q=nothing-like-this'),
  {
    what: `archiving a flag that is in ${ENVIRONMENTS} environments`,
    run: (send, round) => send('POST', `${wide}/flags/${flagKey(round % WIDE_FLAGS)}/archive`),
  },
  {
    what: `import of ${IMPORTED_FLAGS} flags, YAML, preview`,
    run: (send) => send('POST', '/api/import?dryRun=true', YAML),
  },
  get('metrics', '/metrics'),
];

/** How long a read of one flag waits while management does its largest operations over and over. On SQLite. */
export async function measureManagement(bench: Bench): Promise<readonly Row[]> {
  const ours = await measureTree(bench, startOurs);
  const base = BASE === undefined ? undefined : await measureTree(bench, await startOf(BASE));
  const [all, reference] = [ours, base ?? ours].map(({ idle }) => text(idle));
  return [
    {
      what: 'a read beside an idle management',
      measured: all ?? '',
      reference: reference ?? '',
      ratio: '',
      goal: '',
      verdict: '',
    },
    ...OPERATIONS.map(({ what }, index) => rowOf(what, { ours, base, index })),
  ];
}

/** The same function of another checkout, which starts that checkout's service. */
async function startOf(checkout: string): Promise<StartNode> {
  const { startNode } = await import(join(checkout, 'packages/testing/src/index.ts'));
  return startNode;
}

/** Waits of reads: beside an idle management, and during each operation. */
interface Measured {
  readonly idle: ProbeResult;
  readonly busy: readonly (ProbeResult & { readonly rounds: number })[];
}

async function measureTree(bench: Bench, startNode: StartNode): Promise<Measured> {
  const folder = temporaryFolder();
  const dataFolder = folder.path;
  try {
    await (await startNode({ dataFolder })).stop();
    bench.say('management: fills the database');
    const key = fill(join(dataFolder, 'halyard.db'));
    const node = await startNode({ dataFolder });
    await using probe = await Worker.start<ProbeCommands>(bench.machine, 'latency-probe.ts', 'load');
    try {
      await pin(bench.machine, node.pid, 'server');

      const url = `${node.url}/v1/flags/${flagKey(1)}?env=${ENVIRONMENT}`;
      const plan = { url, headers: { 'X-Service-Key': key }, perSecond: READS_PER_SECOND, seconds: SECONDS };
      const send: Send = async (method, path, body) => {
        const answer = await fetch(`${node.url}${path}`, {
          method,
          headers: { Authorization: `Bearer ${node.adminToken}`, 'Content-Type': 'application/yaml' },
          ...(body === undefined ? {} : { body }),
        });
        if (!answer.ok)
          throw new Error(`${method} ${path} answered ${answer.status}: ${await answer.text()}`);
        for await (const _ of answer.body ?? []);
      };

      // A node loads the management interface and its thread with the first calls.
      for (const { run } of OPERATIONS.slice(0, 2)) await run(send, 0);
      const idle = await probe.ask('run', plan);

      const busy: Measured['busy'][number][] = [];
      for (const { what, run } of OPERATIONS) {
        bench.say(`management: ${what}`);
        // The first one compiles.
        await run(send, 0);
        let rounds = 0;
        let isOver = false;
        const reads = probe.ask('run', plan).finally(() => {
          isOver = true;
        });
        while (!isOver) await run(send, ++rounds);
        const result = { ...(await reads), rounds };
        bench.say(`management: reads waited ${text(result)}, ${rounds} done`);
        busy.push(result);
      }
      return { idle, busy };
    } finally {
      await node.stop();
    }
  } finally {
    folder.remove();
  }
}

function rowOf(
  what: string,
  {
    ours,
    base,
    index,
  }: { readonly ours: Measured; readonly base: Measured | undefined; readonly index: number },
): Row {
  const busy = ours.busy[index];
  const reference = base === undefined ? ours.idle : base.busy[index];
  if (busy === undefined || reference === undefined) throw new Error(`${what} was not measured`);
  return {
    what: `a read during: ${what}`,
    measured: `${text(busy)} (${busy.rounds} done)`,
    reference: `${base === undefined ? 'management idle' : `the base (${base.busy[index]?.rounds} done)`}: ${text(reference)}`,
    ratio: times(busy.p99Ms / reference.p99Ms),
    goal: `<= ${GOAL_MS} ms p99`,
    verdict: verdict(busy.p99Ms <= GOAL_MS),
  };
}

function text({ p99Ms, maxMs }: ProbeResult): string {
  return `${milliseconds(p99Ms)} p99, ${milliseconds(maxMs)} max`;
}

function get(what: string, path: string): Operation {
  return { what, run: (send) => send('GET', path) };
}

const YAML = [
  'halyard: 1',
  'project: imported',
  'environments: [production]',
  'flags:',
  ...Array.from(
    { length: IMPORTED_FLAGS },
    (_, index) =>
      `  ${flagKey(index)}:\n    environments:\n      production: {"enabled":true,"value":"text ${index}"}`,
  ),
].join('\n');

/** Fills the file of a stopped node, which takes seconds instead of minutes, and returns a key that reads. */
function fill(path: string): string {
  const sqlite = new Database(path);
  const key = `proj_live_${'a'.repeat(43)}`;
  const digest = new Bun.CryptoHasher('sha256').update(key).digest('hex');
  const state = '{"enabled":true,"value":"a text value"}';
  const count = (to: number) =>
    `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${to - 1})`;

  sqlite.transaction(() => {
    sqlite.run(
      `INSERT INTO projects (id, name, created_at) VALUES ('p1', '${PROJECT}', 1), ('p2', '${WIDE}', 1)`,
    );
    sqlite.run(
      `INSERT INTO environments (id, project_id, name, revision, created_at) VALUES ('e', 'p1', '${ENVIRONMENT}', 0, 1)`,
    );
    sqlite.run(`${count(ENVIRONMENTS)} INSERT INTO environments (id, project_id, name, revision, created_at, position)
      SELECT 'w' || i, 'p2', printf('env-%05d', i), 0, 1, i FROM n`);
    for (const [id, flags] of [
      ['p1', FLAGS],
      ['p2', WIDE_FLAGS],
    ] as const) {
      sqlite.run(`${count(flags)} INSERT INTO flags (project_id, key, description, tags, created_at)
        SELECT '${id}', printf('flag-%05d', i), 'A flag that a bench made', '["bench"]', 1 FROM n`);
      sqlite.run(`INSERT INTO flag_states (environment_id, flag_key, project_id, state, revision, updated_at)
        SELECT environments.id, key, flags.project_id, '${state}', 0, 1 FROM flags
        JOIN environments ON environments.project_id = flags.project_id WHERE flags.project_id = '${id}'`);
    }

    sqlite.run(`${count(KEYS)} INSERT INTO project_keys (id, project_id, name, digest, last_four, environments, created_at)
      SELECT 'k' || i, 'p1', 'key ' || i, lower(hex(randomblob(32))), 'aaaa', '["${ENVIRONMENT}"]', 1 FROM n`);
    sqlite.run(`UPDATE project_keys SET digest = '${digest}' WHERE id = 'k0'`);

    sqlite.run(`${count(AUDIT_ROWS)} INSERT INTO audit_log
      (id, seq, position, actor, note, action, project_id, environment_id, target, before, after, at, operation_seq)
      SELECT lower(hex(randomblob(16))), i + 1, 0, 'operator:person' || i % 50 || '@example.com', 'ticket ' || i,
        'flag.changed', 'p1', 'e', printf('flag-%05d', i % ${FLAGS}), '${state}', '${state}', 1700000000000 + i, i + 1
      FROM n`);
    sqlite.run(`UPDATE feed SET seq = ${AUDIT_ROWS}`);
  })();
  sqlite.close();
  return key;
}
