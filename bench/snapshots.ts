import { temporaryFolder } from '@halyard/testing';
import type { Bench } from './bench.ts';
import { changeFile, digestsOf, keyOf, type NodeFile } from './fill-file.ts';
import { mebibytes, milliseconds } from './format.ts';
import { openNode } from './node.ts';
import { metered, settledBytes, withPeak } from './process-figures.ts';
import { ReadProbe } from './reads-wait.ts';
import { type Row, rowOf } from './row.ts';
import { median, sum } from './statistics.ts';
import { Worker } from './worker.ts';
import type { FollowerCommands } from './workers/follower-pool.ts';
import type { LoaderCommands } from './workers/snapshot-loader.ts';

const PROJECTS = 2000;
const PER_PROJECT = { environments: 10, flags: 10, keys: 100 };
const FOLLOWERS = 60;
/** Each follower has a fifteenth of the projects: every project is in the scope of four. */
const SHARE = PROJECTS / 15;
/** Reads a second: more than a few would measure what reads take from the state's making. */
const READS_PER_SECOND = 200;

const tokens = Array.from({ length: FOLLOWERS + 1 }, (_, n) => `hrt_${String(n).padStart(43, 't')}`);

/** What followers that load the state do to reads, to memory, and to a relay that is current. */
export async function measureSnapshots(bench: Bench): Promise<readonly Row[]> {
  using folder = temporaryFolder();
  bench.say('snapshots: 200,000 flag states and 200,000 keys in the file of a stopped node');
  await (await openNode(bench, { dataFolder: folder.path })).stop();
  changeFile(folder.path, fill);

  await using node = await openNode(bench, { dataFolder: folder.path });
  const read = {
    url: `${node.url}/v1/flags/flag-1?env=environment-0`,
    headers: { 'X-Service-Key': keyOf(0) },
  };
  await using probe = new ReadProbe(bench.machine, read);
  await using relay = new Worker<FollowerCommands>(bench.machine, 'follower-pool.ts', 'load');
  await relay.ask('start', { url: node.url, token: tokens[FOLLOWERS] ?? '', count: 1 });

  const rows: Row[] = [];
  for (const round of ['the first time', 'again']) {
    bench.say(`snapshots: ${FOLLOWERS} followers with scopes of their own, ${round}`);
    await using loader = new Worker<LoaderCommands>(bench.machine, 'snapshot-loader.ts', 'load');
    await settledBytes(node.pids);
    await relay.ask('take');
    const plan = { url: node.url, tokens: tokens.slice(0, FOLLOWERS) };
    const load = () => probe.during(() => loader.ask('load', plan), READS_PER_SECOND);
    const { result: measured, cpuMs } = await metered(node.pids, () => withPeak(node.pid, load));

    const { before, peak } = measured;
    const { reads, result } = measured.result;
    const { lost } = await relay.ask('take');
    const took = result.map(({ tookMs }) => tookMs);
    const refusals = sum(result.map(({ refused }) => refused));
    const received = sum(result.map(({ bytes }) => bytes));
    const what = `${FOLLOWERS} scoped followers load at once, ${round}`;
    rows.push(
      rowOf(
        `${what}: slowest read`,
        (ms) => `${milliseconds(ms)} (p99 ${milliseconds(reads.p99Ms)}, ${reads.count} reads)`,
        reads.maxMs,
        { goal: '< 100 ms' },
      ),
      rowOf(`${what}: a relay that is current loses its upstream`, (count) => `${count} times`, lost.length, {
        goal: { never: lost.length === 0 },
      }),
      rowOf(`${what}: memory`, () => `${mebibytes(before)} -> ${mebibytes(peak)}`, before),
      rowOf(
        `${what}: each, and the node's processor time`,
        (ms) =>
          `median ${milliseconds(ms)}, slowest ${milliseconds(Math.max(...took))}, ` +
          `${refusals} refusals, ${mebibytes(received)} in all; ${milliseconds(cpuMs)} CPU`,
        median(took),
      ),
    );
  }
  return rows;
}

/** Key {@link keyOf} `n` opens all of project `n` modulo their number. */
function fill(file: NodeFile): void {
  const { environments, flags, keys } = PER_PROJECT;
  const names = JSON.stringify(Array.from({ length: environments }, (_, index) => `environment-${index}`));
  const [p, rest] = [`(n % ${PROJECTS})`, `(n / ${PROJECTS})`];
  const created = { created_at: '1' };
  file.add('projects', PROJECTS, { id: `'p' || n`, name: `'project-' || n`, ...created });
  file.add('environments', PROJECTS * environments, {
    id: `'e' || ${p} || '-' || ${rest}`,
    project_id: `'p' || ${p}`,
    name: `'environment-' || ${rest}`,
    revision: '1',
    ...created,
  });
  file.add('flags', PROJECTS * flags, {
    project_id: `'p' || ${p}`,
    key: `'flag-' || ${rest}`,
    description: `''`,
    tags: `'[]'`,
    ...created,
  });
  file.run(`INSERT INTO flag_states (environment_id, flag_key, project_id, state, revision, updated_at)
    SELECT environments.id, key, flags.project_id, '{"enabled":true,"value":"value ' || flags.project_id || key || '"}', 1, 1
    FROM flags JOIN environments ON environments.project_id = flags.project_id`);

  const secrets = Array.from({ length: PROJECTS * keys }, (_, n) => keyOf(n));
  file.add('project_keys', secrets.length, {
    id: `'k' || n`,
    project_id: `'p' || ${p}`,
    name: `'key ' || ${rest}`,
    digest: digestsOf(file, secrets),
    last_four: `'kkkk'`,
    environments: `'${names}'`,
    ...created,
  });

  const digest = digestsOf(file, tokens);
  for (const n of tokens.keys()) {
    const scope = Array.from({ length: SHARE }, (_, index) => `p${Math.floor(n * SHARE + index) % PROJECTS}`);
    file.run(
      `INSERT INTO relay_tokens (id, name, active_name, digest, projects, created_at)
        SELECT 'r' || n, 'relay ' || n, 'relay ' || n, ${digest}, ?, 1 FROM (SELECT ? AS n) AS numbers`,
      JSON.stringify(scope),
      n,
    );
  }
}
