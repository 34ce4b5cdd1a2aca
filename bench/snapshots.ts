import { temporaryFolder } from '@halyard/testing';
import type { Bench } from './bench.ts';
import { digestsOf, keyOf, openFile } from './fill-file.ts';
import { mebibytes, milliseconds } from './format.ts';
import { openNode } from './node.ts';
import { metered, peakBytes, resetPeak, settledBytes } from './process-figures.ts';
import { ReadProbe } from './reads-wait.ts';
import type { Row } from './row.ts';
import { median } from './statistics.ts';
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
/** How long a read may wait while followers load, in milliseconds. */
const GOAL_MS = 100;

const tokens = Array.from({ length: FOLLOWERS + 1 }, (_, n) => `hrt_${String(n).padStart(43, 't')}`);

/** What followers that load the state do to reads, to memory, and to a relay that is current. */
export async function measureSnapshots(bench: Bench): Promise<readonly Row[]> {
  using folder = temporaryFolder();
  bench.say('snapshots: 200,000 flag states and 200,000 keys in the file of a stopped node');
  await (await openNode(bench, { dataFolder: folder.path })).stop();
  fill(folder.path);

  await using node = await openNode(bench, { dataFolder: folder.path });
  const read = {
    url: `${node.url}/v1/flags/flag-1?env=environment-0`,
    headers: { 'X-Service-Key': keyOf(0) },
  };
  await using probe = await ReadProbe.start(bench.machine, read);
  await using relay = await Worker.start<FollowerCommands>(bench.machine, 'follower-pool.ts', 'load');
  await relay.ask('start', { url: node.url, token: tokens[FOLLOWERS] ?? '', count: 1 });

  const rows: Row[] = [];
  for (const round of ['the first time', 'again']) {
    bench.say(`snapshots: ${FOLLOWERS} followers with scopes of their own, ${round}`);
    await using loader = await Worker.start<LoaderCommands>(bench.machine, 'snapshot-loader.ts', 'load');
    const before = await settledBytes(node.pids);
    resetPeak(node.pid);
    await relay.ask('take', null);
    const plan = { url: node.url, tokens: tokens.slice(0, FOLLOWERS) };
    const { result: watched, cpuMs } = await metered(node.pids, () =>
      probe.during(() => loader.ask('load', plan), READS_PER_SECOND),
    );

    const { reads, result } = watched;
    const { lost } = await relay.ask('take', null);
    const what = `${FOLLOWERS} scoped followers load at once, ${round}`;
    rows.push(
      {
        what: `${what}: slowest read`,
        measured: `${milliseconds(reads.maxMs)} (p99 ${milliseconds(reads.p99Ms)}, ${reads.count} reads)`,
        goal: `< ${GOAL_MS} ms`,
        isReached: reads.maxMs < GOAL_MS,
      },
      {
        what: `${what}: a relay that is current loses its upstream`,
        measured: `${lost.length} times`,
        goal: 'never',
        isReached: lost.length === 0,
      },
      { what: `${what}: memory`, measured: `${mebibytes(before)} -> ${mebibytes(peakBytes(node.pid))}` },
      {
        what: `${what}: each, and the node's processor time`,
        measured:
          `median ${milliseconds(median(result.tookMs))}, slowest ${milliseconds(Math.max(...result.tookMs))}, ` +
          `${result.refused} refusals, ${mebibytes(result.bytes)} in all; ${milliseconds(cpuMs)} CPU`,
      },
    );
  }
  return rows;
}

/** Key {@link keyOf} `n` opens all of project `n` modulo their number. */
function fill(dataFolder: string): void {
  using file = openFile(dataFolder);
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
