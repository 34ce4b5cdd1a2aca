import { percentile } from '../statistics.ts';
import { serveCommands } from '../worker-commands.ts';

/** Writers that each change a flag of their own, again as soon as the last change is answered. */
export interface WritersPlan {
  /** Address of the node. */
  readonly url: string;
  readonly adminToken: string;
  readonly project: string;
  /** Writer `n` writes to the environment at `n` modulo their number. */
  readonly environments: readonly string[];
  /** One key per writer. */
  readonly keys: readonly string[];
  readonly seconds: number;
}

const commands = { run };
/** The commands of this worker. */
export type WritersCommands = typeof commands;

serveCommands(commands);

/** Makes every value of this process unique: setting the value that a flag has would change nothing. */
let serial = 0;

/** How far the writers came, and what a change took in milliseconds. */
async function run(plan: WritersPlan) {
  const times: number[] = [];
  const start = performance.now();
  const end = start + plan.seconds * 1000;
  await Promise.all(
    plan.keys.map(async (key, writer) => {
      const environment = plan.environments[writer % plan.environments.length] ?? '';
      while (performance.now() < end) {
        const before = performance.now();
        await change(plan, environment, key);
        times.push(performance.now() - before);
      }
    }),
  );
  return {
    changes: times.length,
    seconds: (performance.now() - start) / 1000,
    p50Ms: percentile(times, 0.5),
    p99Ms: percentile(times, 0.99),
  };
}

async function change(plan: WritersPlan, environment: string, key: string): Promise<void> {
  const path = `/api/projects/${plan.project}/environments/${environment}/flags/${key}`;
  const response = await fetch(`${plan.url}${path}`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${plan.adminToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({ enabled: true, value: `value ${++serial}` }),
    signal: AbortSignal.timeout(30_000),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`a change was answered ${response.status}: ${text}`);
}
