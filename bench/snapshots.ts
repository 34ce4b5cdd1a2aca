import { startNode, temporaryFolder } from '@halyard/testing';
import type { Bench } from './bench.ts';
import { mebibytes, milliseconds, verdict } from './format.ts';
import { environmentName, fillLargeState, keyOf } from './large-state.ts';
import { pin } from './machine.ts';
import { cpuTimeMs, peakBytes, resetPeak, settledBytes } from './process-figures.ts';
import { ReadProbe } from './reads-wait.ts';
import type { Row } from './row.ts';
import { median } from './statistics.ts';
import { Worker } from './worker.ts';
import type { FollowerCommands } from './workers/follower-pool.ts';
import type { LoaderCommands, LoadResult } from './workers/snapshot-loader.ts';

const PROJECTS = 2000;
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
  const empty = await startNode({ dataFolder: folder.path });
  await empty.stop();

  fillLargeState(folder.path, {
    projects: PROJECTS,
    environmentsPerProject: 10,
    flagsPerProject: 10,
    keysPerProject: 100,
    relayTokens: tokens,
    projectsOf: (n) => Array.from({ length: SHARE }, (_, index) => Math.floor(n * SHARE + index) % PROJECTS),
  });

  const { adminToken } = empty;
  const node = await startNode({ dataFolder: folder.path, adminToken });
  try {
    await pin(bench.machine, node.pid, 'server');
    const read = {
      url: `${node.url}/v1/flags/flag-1?env=${environmentName(0)}`,
      headers: { 'X-Service-Key': keyOf(0) },
    };
    await using probe = await ReadProbe.start(bench.machine, read);
    await using relay = await Worker.start<FollowerCommands>(bench.machine, 'follower-pool.ts', 'load');
    await relay.ask('start', { url: node.url, token: tokens[FOLLOWERS] ?? '', count: 1 });

    const rows: Row[] = [];
    for (const round of ['the first time', 'again']) {
      bench.say(`snapshots: ${FOLLOWERS} followers with scopes of their own, ${round}`);
      await using loader = await Worker.start<LoaderCommands>(bench.machine, 'snapshot-loader.ts', 'load');

      const before = await settledBytes([node.pid]);
      resetPeak(node.pid);
      const cpuBefore = cpuTimeMs(node.pid);
      await relay.ask('take', null);
      const { result, reads } = await probe.during(
        () => loader.ask('load', { url: node.url, tokens: tokens.slice(0, FOLLOWERS) }),
        READS_PER_SECOND,
      );

      const cpu = cpuTimeMs(node.pid) - cpuBefore;
      const { lost } = await relay.ask('take', null);
      const what = `${FOLLOWERS} scoped followers load at once, ${round}`;
      rows.push(
        {
          what: `${what}: slowest read`,
          measured: `${milliseconds(reads.maxMs)} (p99 ${milliseconds(reads.p99Ms)}, ${reads.count} reads)`,
          reference: '',
          ratio: '',
          goal: `< ${GOAL_MS} ms`,
          verdict: verdict(reads.maxMs < GOAL_MS),
        },
        {
          what: `${what}: a relay that is current loses its upstream`,
          measured: `${lost.length} times`,
          reference: '',
          ratio: '',
          goal: 'never',
          verdict: verdict(lost.length === 0),
        },
        plain(`${what}: memory`, `${mebibytes(before)} -> ${mebibytes(peakBytes(node.pid))}`),
        plain(`${what}: each, and the node's processor time`, summary(result, cpu)),
      );
    }

    return rows;
  } finally {
    await node.stop();
  }
}

function summary({ bytes, refused, tookMs }: LoadResult, cpuMs: number): string {
  return (
    `median ${milliseconds(median(tookMs))}, slowest ${milliseconds(Math.max(...tookMs))}, ` +
    `${refused} refusals, ${mebibytes(bytes)} in all; ${milliseconds(cpuMs)} CPU`
  );
}

function plain(what: string, measured: string): Row {
  return { what, measured, reference: '', ratio: '', goal: '', verdict: '' };
}
