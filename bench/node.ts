import {
  type ChangeInput,
  childrenOf,
  Management,
  type NodeProcess,
  type StartNodeOptions,
} from '@halyard/testing';
import type { Bench } from './bench.ts';
import { residentBytes } from './process-figures.ts';
import type { ChangeRequest } from './raw-request.ts';
import { MOST_BYTES } from './running.ts';

/** The one project of a bench, in which everything is measured. */
export const PROJECT = 'bench';
/** The environment in which everything is measured. */
export const ENVIRONMENT = 'production';
/** Most flags written as one change. */
const BATCH = 2000;

/** What OpenFeature's providers send: a few facts besides the targeting key. */
export const CONTEXT = JSON.stringify({
  context: { targetingKey: 'user-4711', email: 'ada@example.com', plan: 'gold', country: 'DE' },
});

/** Headers that a read needs. */
export type Headers = Readonly<Record<string, string>>;

/** A node of the tree that is measured, on the core of servers. */
export interface OpenNode extends NodeProcess, AsyncDisposable {
  /** Its process and, with workers, theirs. */
  readonly pids: readonly number[];
}

/** A node with flags in one environment, and what opens it. */
export type FilledNode = ReturnType<typeof asFilled>;

/** Starts a node, which ends with its block, or when it takes too much memory. */
export async function openNode(
  { machine, checkout }: Bench,
  options: StartNodeOptions = {},
): Promise<OpenNode> {
  // The shell ties itself to the core, so that the node has counted one when it starts.
  const steps = [machine.canPin ? 'taskset -cp 0 $$ >/dev/null' : '', options.shellPrefix ?? ''];
  const shellPrefix = steps.filter((step) => step !== '').join('; ');
  const node = await checkout.startNode({ ...options, ...(shellPrefix !== '' && { shellPrefix }) });

  const timer = setInterval(() => {
    if (residentBytes(node.pid) > MOST_BYTES) void node.kill();
  }, 500);
  void node.exited.then(() => clearInterval(timer));
  const pids = [node.pid, ...childrenOf(node.pid)];
  return { ...node, pids, [Symbol.asyncDispose]: async () => void (await node.stop()) };
}

/** Starts a node and makes a project with so many flags in one environment, and a key to it. */
export async function openFilled(
  bench: Bench,
  flags: number,
  options: StartNodeOptions = {},
): Promise<FilledNode> {
  const node = await openNode(bench, options);
  try {
    const management = new Management(node);
    const headers = await fill(
      management,
      Array.from({ length: flags }, (_, index) => flag(index)),
    );
    return asFilled(node, headers);
  } catch (error) {
    await node.stop();
    throw error;
  }
}

/** Leaves a folder with the data of a node that had so many flags, of which one has changed last. */
export async function fillFolder(bench: Bench, flags: number, dataFolder: string) {
  await using node = await openFilled(bench, flags, { dataFolder });
  const { adminToken, headers, management } = node;
  await management.putState(PROJECT, ENVIRONMENT, flagKey(0), { enabled: false });
  return { adminToken, headers };
}

/** A node that has flags already, which these headers open. */
export function asFilled(node: OpenNode, headers: Headers) {
  return { ...node, management: new Management(node), headers, ...requestsOf(node, headers) };
}

/** Fills an empty node. Returns the headers of a read. */
export async function fill(management: Management, flags: readonly ChangeInput[]): Promise<Headers> {
  await management.createProject(PROJECT);
  for (let first = 0; first < flags.length; first += BATCH) {
    await management.change(PROJECT, ENVIRONMENT, flags.slice(first, first + BATCH));
  }
  const { key } = await management.createKey(PROJECT, [ENVIRONMENT]);
  return { 'X-Service-Key': key };
}

/** The requests of a node, of which `one` reads flag `index`; changes are those of flag 0. */
export function requestsOf(node: Pick<NodeProcess, 'url' | 'adminToken'>, headers: Headers, index = 1) {
  const query = `?env=${ENVIRONMENT}`;
  const ofrep = { url: `${node.url}/ofrep/v1/evaluate/flags`, headers, body: CONTEXT };
  return {
    requests: {
      one: { url: `${node.url}/v1/flags/${flagKey(index)}${query}`, headers },
      all: { url: `${node.url}/v1/flags${query}`, headers },
      ofrepOne: { ...ofrep, url: `${ofrep.url}/${flagKey(index)}` },
      ofrepAll: ofrep,
    },
    stream: {
      url: `${node.url}/v1/stream${query}`,
      headers,
      change: (serial: number) => changeRequest(node, serial),
    },
  };
}

/** The request that gives flag 0 of the node another value. */
export function changeRequest(
  node: Pick<NodeProcess, 'url' | 'adminToken'>,
  serial: number,
  environment: string = ENVIRONMENT,
): ChangeRequest {
  return {
    url: `${node.url}/api/projects/${PROJECT}/environments/${environment}/flags/${flagKey(0)}`,
    method: 'PUT',
    headers: { authorization: `Bearer ${node.adminToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({ enabled: true, value: `variant ${serial} of a text`, rolloutPct: 0 }),
  };
}

/** The key of the flag of that number: `flag-00042`. */
export function flagKey(index: number): string {
  return `flag-${String(index).padStart(5, '0')}`;
}

/** A mixture as it is found in practice: switches, texts, rollouts; about 80 bytes each inside the map. */
function flag(index: number): ChangeInput {
  const state = {
    enabled: index % 2 === 0,
    value: `variant ${index % 7} of a text value`,
    ...(index % 3 === 0 ? { rolloutPct: index % 101 } : {}),
  };
  return { key: flagKey(index), state };
}
