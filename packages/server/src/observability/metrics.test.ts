import { expect, test } from 'bun:test';
import { ReadPlane } from '../evaluation/read-plane.ts';
import { createLogger } from './logger.ts';
import { Metrics } from './metrics.ts';

/** A read plane whose log is never there, and its metrics. */
function setUp() {
  const plane = new ReadPlane({
    source: { open: () => new Promise(() => {}) },
    log: createLogger({ level: 'silent', format: 'json' }),
    maxQueuedBytes: 1024,
  });
  const metrics = new Metrics({ plane, screens: { watchers: 2 } });
  return { plane, metrics };
}

/** The samples of one metric: its labels, or an empty text, and its value. */
async function samplesOf(metrics: Metrics, name: string): Promise<Record<string, number>> {
  const text = await (await metrics.scrape()).text();
  const lines = [...text.matchAll(new RegExp(`^${name}(?:\\{(.*)\\})? (\\S+)$`, 'gm'))];
  return Object.fromEntries(lines.map(([, labels = '', value]) => [labels, Number(value)]));
}

test('the state of the node is read when it is scraped', async () => {
  const { plane, metrics } = setUp();
  plane.catalog.apply(row('project.created', { name: 'shop' }));
  plane.catalog.apply(row('environment.created', { name: 'production', revision: 0 }));
  expect(await samplesOf(metrics, 'halyard_environments')).toEqual({ '': 1 });
  expect(await samplesOf(metrics, 'halyard_flag_states')).toEqual({ '': 0 });
  plane.catalog.apply({ ...row('flags.changed', [['a', '{"enabled":true}']]), revision: 1 });
  expect(await samplesOf(metrics, 'halyard_flag_states')).toEqual({ '': 1 });
  expect(await samplesOf(metrics, 'halyard_listener_up')).toEqual({ '': 0 });
  expect(await samplesOf(metrics, 'halyard_streams_open')).toEqual({ '': 0 });
  expect(await samplesOf(metrics, 'halyard_event_streams_open')).toEqual({ '': 2 });
  // Never: a number that every reader of the format takes.
  expect(await samplesOf(metrics, 'halyard_seconds_since_proof')).toEqual({ '': 1e9 });
});

test('what happens is counted, by cause', async () => {
  const { plane, metrics } = setUp();
  metrics.streamClosed('listener');
  metrics.streamClosed('listener');
  metrics.streamClosed('slow');
  metrics.lost();
  metrics.malformed({ kind: 'key' });
  metrics.receiptsDropped(3);
  plane.counters.of('single').count(200);
  plane.counters.of('single').count(200);
  expect(await samplesOf(metrics, 'halyard_streams_closed_total')).toEqual({
    'cause="listener"': 2,
    'cause="slow"': 1,
  });
  expect(await samplesOf(metrics, 'halyard_listener_lost_total')).toEqual({ '': 1 });
  expect(await samplesOf(metrics, 'halyard_malformed_records_total')).toEqual({ 'kind="key"': 1 });
  expect(await samplesOf(metrics, 'halyard_receipts_dropped_total')).toEqual({ '': 3 });
  // Twice alike: a scrape adds nothing.
  for (let scrape = 0; scrape < 2; scrape++) {
    expect(await samplesOf(metrics, 'halyard_evaluation_answers_total')).toMatchObject({
      'operation="single",status="200"': 2,
    });
  }
});

test('a delivery is counted once, when it is settled', async () => {
  const { metrics } = setUp();
  const progress = { seq: 1, environmentId: 'e', at: 0, streams: 5, slowestMs: 20 };
  metrics.progressed({ ...progress, seen: 2, closed: 0, isSettled: false });
  metrics.progressed({ ...progress, seen: 3, closed: 1, isSettled: true });
  expect(await samplesOf(metrics, 'halyard_delivery_streams_total')).toEqual({
    'outcome="seen"': 3,
    'outcome="closed"': 1,
    'outcome="late"': 1,
  });
  expect(await samplesOf(metrics, 'halyard_delivery_seconds_count')).toEqual({ '': 1 });
});

test('only changes of flags have a propagation time, which is never negative when a clock is ahead', async () => {
  const { metrics } = setUp();
  metrics.applied(row('project.created', { name: 'shop' }));
  metrics.applied({ ...row('flags.changed', []), at: Date.now() + 60_000 });
  expect(await samplesOf(metrics, 'halyard_propagation_seconds_count')).toEqual({ '': 1 });
  expect(await samplesOf(metrics, 'halyard_propagation_seconds_sum')).toEqual({ '': 0 });
});

test('the process reports its own figures, without an idle monitor and without walking the heap', async () => {
  const { metrics } = setUp();
  const text = await (await metrics.scrape()).text();
  const own = [...text.matchAll(/^(halyard_(?:process|nodejs)_\w+) (\S+)$/gm)].map(
    ([, name, value]) => [name, Number(value)] as const,
  );
  const figures = Object.fromEntries(own);
  expect(Object.keys(figures).sort()).toEqual([
    'halyard_nodejs_eventloop_lag_seconds',
    'halyard_nodejs_external_memory_bytes',
    'halyard_nodejs_heap_size_total_bytes',
    'halyard_nodejs_heap_size_used_bytes',
    'halyard_process_cpu_seconds_total',
    'halyard_process_cpu_system_seconds_total',
    'halyard_process_cpu_user_seconds_total',
    'halyard_process_max_fds',
    'halyard_process_open_fds',
    'halyard_process_resident_memory_bytes',
    'halyard_process_start_time_seconds',
  ]);
  for (const value of Object.values(figures)) expect(value).toBeGreaterThan(0);
  const uptime = Date.now() / 1000 - (figures.halyard_process_start_time_seconds ?? 0);
  expect(Math.abs(uptime - process.uptime())).toBeLessThan(60);
});

function row(kind: 'project.created' | 'environment.created' | 'flags.changed', payload: unknown) {
  return {
    seq: 1,
    changeId: 'c',
    kind,
    projectId: 'p',
    payload: JSON.stringify(payload),
    actor: 'token:ci',
    at: 0,
    ...(kind === 'project.created' ? {} : { environmentId: 'e' }),
  };
}
