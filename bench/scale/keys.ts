import { Management, temporaryFolder } from '@halyard/testing';
import { digestsOf, keyOf, openFile } from '../fill-file.ts';
import { percent } from '../format.ts';
import { startLoadMaker } from '../load.ts';
import { ENVIRONMENT, type OpenNode, openFilled, openNode, PROJECT, requestsOf } from '../node.ts';
import { idleShare } from '../process-figures.ts';
import { ReadProbe } from '../reads-wait.ts';
import { median } from '../statistics.ts';
import { Worker } from '../worker.ts';
import type { RequestCommands } from '../workers/requests.ts';
import type { Dimension, Figure, Scale, Size } from './dimension.ts';
import { figure, managementCost, memory, msFigure, readCost, startCost, watchedFigure } from './measure.ts';

const SIZES = [10, 1_000, 100_000];
const QUICK_SIZES = [10, 1_000, 10_000];
const FLAGS = 100;
const IDLE_SECONDS = 5;
const CHANGES = 15;
/** Housekeeping notes the use of keys every 30 seconds. */
const NOTED_WITHIN_SECONDS = 35;
const REMARK =
  'The keys are written into the file of the stopped node; a note of their use is awaited at the last size only.';

/** Project keys: reads, lists, making and revoking, and the note of their use. */
export async function measureKeys(scale: Scale): Promise<readonly Dimension[]> {
  const sizes: Size[] = [];
  const counts = scale.isQuick ? QUICK_SIZES : SIZES;
  for (const count of counts) {
    scale.say(`scale: ${count} keys`);
    sizes.push(await measureSize(scale, count, count === counts.at(-1)));
  }
  return [{ title: 'Project keys', input: 'Keys', sizes, remark: REMARK }];
}

async function measureSize(scale: Scale, count: number, isLast: boolean): Promise<Size> {
  using folder = temporaryFolder();
  const { machine } = scale;
  const filled = await openFilled(scale, FLAGS, { dataFolder: folder.path });
  await filled.stop();
  const { adminToken, headers } = filled;
  const secrets = Array.from({ length: count - 1 }, (_, n) => keyOf(n));
  addKeys(folder.path, secrets);

  const start = await startCost(scale, folder.path, headers);
  await using node = await openNode(scale, { dataFolder: folder.path, adminToken });
  const { one } = requestsOf(node, headers).requests;
  await using load = await startLoadMaker(machine);
  await using probe = await ReadProbe.start(machine, one);
  const idle = await idleShare(node.pids, IDLE_SECONDS);
  const figures: Record<string, Figure> = {
    start,
    memory: memory(node),
    'idle, of a core': figure(percent(idle), idle, 0.03),
    'one flag (CPU)': await readCost(load, node, one),
    ...(await makeAndRevoke(node)),
    'list of keys': await managementCost(node, probe, `/api/projects/${PROJECT}/keys`),
    '/metrics': await managementCost(node, probe, '/metrics'),
    ...(isLast && !scale.isQuick && { 'use of all noted': await noteUse(scale, one.url, secrets, probe) }),
  };
  return { input: count, label: String(count), figures };
}

/** Copies of the file's last key. They all expire, which is the harder case: not within this measurement. */
function addKeys(dataFolder: string, secrets: readonly string[]): void {
  using file = openFile(dataFolder);
  const columns = {
    id: `'copy-' || n`,
    name: `'key ' || n`,
    digest: digestsOf(file, secrets),
    expires_at: `${Date.now() + 86_400_000} + n`,
  };
  file.add('project_keys', secrets.length, columns, { like: 'last' });
}

async function makeAndRevoke(node: OpenNode): Promise<Record<string, Figure>> {
  const management = new Management(node);
  const [making, revoking]: [number[], number[]] = [[], []];
  for (let n = 0; n < CHANGES; n++) {
    const before = performance.now();
    const { id } = await management.createKey(PROJECT, [ENVIRONMENT], { name: `made ${n}` });
    const made = performance.now();
    await management.revokeKey(id);
    making.push(made - before);
    revoking.push(performance.now() - made);
  }
  return { 'making one': msFigure(median(making), 4), 'revoking one': msFigure(median(revoking), 4) };
}

/** Reads with every key once, then waits until the next note of their use has been written. */
async function noteUse(
  { machine }: Scale,
  url: string,
  secrets: readonly string[],
  probe: ReadProbe,
): Promise<Figure> {
  await using user = await Worker.start<RequestCommands>(machine, 'requests.ts', 'load');
  await user.ask(
    'each',
    secrets.map((secret) => ({ url, headers: { 'X-Service-Key': secret } })),
  );
  return watchedFigure([await probe.during(() => Bun.sleep(NOTED_WITHIN_SECONDS * 1000))]);
}
