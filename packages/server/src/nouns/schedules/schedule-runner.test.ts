import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test';
import { until } from '@halyard/testing';
import pino from 'pino';
import { SYSTEM } from '../../domain/audit.ts';
import { UNLIMITED } from '../../domain/rights.ts';
import type { ManagementContext } from '../../management/context.ts';
import { ENGINES, openTestStore, type TestStore } from '../../storage/test-engines.ts';
import type { DueRunner } from '../due-runner.ts';
import { createFlag } from '../flags/flags.ts';
import { createProject } from '../projects/projects.ts';
import { StateWriters } from '../states/state-writers.ts';
import { scheduleRunner } from './schedule-runner.ts';
import { createSchedule, listSchedules } from './schedules.ts';

setDefaultTimeout(60_000);

const ADA = { name: 'system', permissions: UNLIMITED };
let home: TestStore;
let runner: DueRunner;
let isReady: boolean;
let context: ManagementContext;

beforeEach(async () => {
  const [engine] = ENGINES;
  if (engine === undefined) throw new Error('the tests have no engine');
  home = await openTestStore(engine);
  isReady = true;
  context = {
    store: home.store,
    stateWriters: new StateWriters(home.store, 'environment'),
    waitForApplied: async () => {},
    assertWritable: () => {},
    now: Date.now,
    randomBytes: (length) => new Uint8Array(length),
    newId: () => Bun.randomUUIDv7(),
    scheduled: (dueAt) => runner.note(dueAt),
  };
  runner = scheduleRunner({ context, log: pino({ enabled: false }), isReady: () => isReady });
  await createProject(context, ADA, { name: 'shop' });
});

afterEach(async () => {
  await runner.close();
  await home[Symbol.asyncDispose]();
});

async function schedule(inMs: number): Promise<number> {
  await createFlag(context, ADA, { project: 'shop', key: 'banner' });
  const dueAt = Date.now() + inMs;
  const place = { project: 'shop', environment: 'staging' };
  const steps = [{ key: 'banner', state: '{"enabled":true}' }];
  // Created now, however late a busy machine does it.
  const created = { ...context, now: () => dueAt - inMs };
  await createSchedule(created, ADA, { ...place, dueAt, steps });
  return dueAt;
}

async function untilDone(): Promise<void> {
  await until('the runner makes the change', async () => (await statuses())[0] === 'done');
}

async function statuses(): Promise<readonly string[]> {
  return (await listSchedules(context, SYSTEM, { project: 'shop' })).map(({ status }) => status);
}

test('a schedule made on this node is run when it is due, without waiting for the next poll', async () => {
  runner.start();
  const dueAt = await schedule(300);
  await untilDone();
  expect(Date.now()).toBeGreaterThanOrEqual(dueAt);
});

test('runs at once what was due before the start', async () => {
  const dueAt = await schedule(100);
  while (Date.now() <= dueAt) await Bun.sleep(1);
  runner.start();
  await untilDone();
});

test('keeps due schedules while the node cannot take changes, and runs them afterwards', async () => {
  isReady = false;
  runner.start();
  const dueAt = await schedule(100);
  while (Date.now() <= dueAt) await Bun.sleep(1);
  expect(await statuses()).toEqual(['pending']);
  isReady = true;
  await untilDone();
});

test('a closed runner runs nothing more', async () => {
  runner.start();
  await runner.close();
  await runner.close();
  const dueAt = await schedule(100);
  while (Date.now() <= dueAt + 20) await Bun.sleep(1);
  expect(await statuses()).toEqual(['pending']);
});
