import { afterAll, expect, test } from 'bun:test';
import { until } from '@halyard/testing';
import { lookAtMachine } from '../machine.ts';
import { Worker } from '../worker.ts';
import type { BareStreamsCommands } from './bare-streams.ts';
import type { RequestCommands } from './requests.ts';
import type { StreamReaderCommands } from './stream-reader.ts';

const PATIENCE_MS = 60_000;
const machine = await lookAtMachine();
const bare = new Worker<BareStreamsCommands>(machine, 'bare-streams.ts', 'server');
const { url } = await bare.ask('serve', { frame: 'data: {}\n\n'.padStart(40, ':\n\n') });

afterAll(() => bare[Symbol.asyncDispose]());

test(
  'the load generator counts the answers it got',
  async () => {
    await using load = new Worker<RequestCommands>(machine, 'requests.ts', 'load');
    const plan = { url: `${url}/v1/flags/x`, headers: {}, connections: 2, seconds: 0.1 };
    const { seconds } = await until('there are answers', async () => {
      const result = await load.ask('load', plan);
      return result.requests > 0 && result;
    });
    expect(seconds).toBeGreaterThanOrEqual(0.1);
  },
  PATIENCE_MS,
);

test(
  'the probe reads at its pace until it gets the end command',
  async () => {
    await using probe = new Worker<RequestCommands>(machine, 'requests.ts', 'load');
    await until('it has read', async () => {
      const start = performance.now();
      await probe.ask('begin', { url: `${url}/v1/flags/x`, headers: {}, perSecond: 100 });
      await Bun.sleep(50);
      const result = await probe.ask('end');
      expect(result.count).toBeLessThanOrEqual(((performance.now() - start) / 1000) * 100);
      expect(result.maxMs).toBeGreaterThanOrEqual(result.p50Ms);
      return result.count;
    });
  },
  PATIENCE_MS,
);

test(
  'each request of a list is sent once',
  async () => {
    await using user = new Worker<RequestCommands>(machine, 'requests.ts', 'load');
    const requests = Array.from({ length: 50 }, () => ({ url: `${url}/v1/flags/x`, headers: {} }));
    expect(await user.ask('each', requests)).toBe(50);
  },
  PATIENCE_MS,
);

test(
  'the reader sees a change on every stream',
  async () => {
    await using reader = new Worker<StreamReaderCommands>(machine, 'stream-reader.ts', 'load');
    await reader.ask('open', { url: `${url}/v1/stream`, headers: {}, count: 20 });
    const change = { url: `${url}/change`, method: 'POST', headers: {}, body: '' } as const;
    const { firstMs, lastMs } = await reader.ask('burst', [change]);
    expect(lastMs).toBeGreaterThanOrEqual(firstMs);
    expect(await reader.ask('close')).toBe(20);
  },
  PATIENCE_MS,
);

test(
  'a command that fails is reported, and the worker continues',
  async () => {
    await using load = new Worker<RequestCommands>(machine, 'requests.ts', 'load');
    const plan = { url: 'http://127.0.0.1:1', headers: {}, connections: 1, seconds: 1 };
    const problem = await load.ask('load', plan).catch((error: unknown) => error);
    expect(problem).toBeInstanceOf(Error);
    const again = { ...plan, url: `${url}/v1/flags/x`, seconds: 0.05 };
    await until('there are answers', async () => (await load.ask('load', again)).requests);
  },
  PATIENCE_MS,
);
