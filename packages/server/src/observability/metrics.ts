import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Aggregator } from 'prom-client';
import Counter from 'prom-client/lib/counter.js';
import Gauge from 'prom-client/lib/gauge.js';
import Histogram from 'prom-client/lib/histogram.js';
import Registry from 'prom-client/lib/registry.js';
import type { LogRow } from '../domain/change-log.ts';
import type { DeliveryProgress } from '../domain/delivery.ts';
import type { Catalog } from '../evaluation/catalog/catalog.ts';
import type { LogServer } from '../evaluation/log/log-server.ts';
import type { ReadPlane, ReadPlaneObserver } from '../evaluation/read-plane.ts';
import type { EvaluationCounters } from '../evaluation/serving/counters.ts';
import type { CloseCause } from '../evaluation/streaming/hub.ts';
import { COMMIT, VERSION } from '../version.ts';

/** Sources that are read on a scrape, so that they cost the read path nothing. */
export interface MetricsSources {
  readonly plane: ReadPlane;
  /** The event streams of dashboards; absent on a node without management. */
  readonly screens?: { readonly watchers: number };
  /** Deliveries to webhooks; absent on a node without management. */
  readonly webhooks?: {
    readonly counts: Readonly<Record<string, number>>;
    readonly lagSeconds: number;
    readonly failing: number;
  };
  /** Publishing; absent on a node that is not set up for it. */
  readonly publishing?:
    | {
        readonly counts: { readonly published: number; readonly failed: number };
        readonly behindSeconds: number;
      }
    | undefined;
  /** The addresses at which a relay follows the log; absent on a node with a database. */
  readonly upstreams?:
    | { states(): readonly { readonly url: string; readonly isFollowed: boolean }[] }
    | undefined;
  /** The offer of the log to other nodes. */
  readonly logServer?: Pick<LogServer, 'followers' | 'backlogBytes' | 'refusedEntries'>;
}

/** The metrics of one process, to combine with those of others. */
export type MetricsReport = readonly object[];

interface LabelledCounts {
  readonly labelNames: readonly string[];
  readonly read: () => readonly (readonly [labels: Record<string, string | number>, count: number])[];
}

/** Upper bounds of the histograms, in seconds. */
const BUCKETS = [0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/** The node's metrics in Prometheus' text format; names begin with `halyard_`. Labels never hold a secret. */
export class Metrics implements ReadPlaneObserver {
  readonly #registry = new Registry();
  readonly #streamsClosed = new Counter({
    name: 'halyard_streams_closed_total',
    help: 'Streams that ended, by cause.',
    labelNames: ['cause'],
    registers: [this.#registry],
  });
  readonly #listenerLost = new Counter({
    name: 'halyard_listener_lost_total',
    help: 'Losses of the change log.',
    registers: [this.#registry],
  });
  readonly #malformedRecords = new Counter({
    name: 'halyard_malformed_records_total',
    help: 'Stored records that could not be read, by kind.',
    labelNames: ['kind'],
    registers: [this.#registry],
  });

  readonly #propagation = new Histogram({
    name: 'halyard_propagation_seconds',
    help: 'Time from the commit of a change (writer clock) until this node hands out its frames.',
    buckets: BUCKETS,
    registers: [this.#registry],
  });
  readonly #delivery = new Histogram({
    name: 'halyard_delivery_seconds',
    help: 'Time from the commit of a change (writer clock) until the slowest stream here received it; one per change.',
    buckets: BUCKETS,
    registers: [this.#registry],
  });
  readonly #deliveryStreams = new Counter({
    name: 'halyard_delivery_streams_total',
    help: 'Frames by outcome: seen, closed (the stream ended first), late (not received within five seconds).',
    labelNames: ['outcome'],
    registers: [this.#registry],
  });

  readonly #receiptsDropped = new Counter({
    name: 'halyard_receipts_dropped_total',
    help: 'Delivery receipts that were not stored: the database was unreachable, or there were too many.',
    registers: [this.#registry],
  });

  constructor({ plane, screens, webhooks, publishing, logServer, upstreams }: MetricsSources) {
    const { hub, follower, freshness, catalog, counters } = plane;
    this.#build();
    this.#process(plane.files);

    this.#gauge('halyard_streams_open', 'Open streams.', () => hub.size);
    if (screens !== undefined) {
      this.#gauge('halyard_event_streams_open', 'Open dashboard event streams.', () => screens.watchers);
    }
    if (webhooks !== undefined) this.#webhooks(webhooks);
    if (publishing !== undefined) this.#publishing(publishing);

    const up = '1 while this node is current: the change log proves it within three seconds.';
    this.#gauge('halyard_listener_up', up, () => Number(freshness.isCurrent), 'min');
    const seq = 'The last row of the change log applied here.';
    this.#gauge('halyard_log_seq', seq, () => follower.seq, 'min');
    this.#gauge(
      'halyard_seconds_since_proof',
      'Time since the change log last proved this node current.',
      () => follower.sinceProofMs() / 1000,
      'max',
    );

    if (logServer !== undefined) {
      this.#gauge('halyard_log_followers', 'Nodes that follow this one.', () => logServer.followers);
      this.#gauge(
        'halyard_log_backlog_bytes',
        'Recent rows of the change log that are kept for followers.',
        () => logServer.backlogBytes,
      );
      const refused = 'Entries of reports of relays that were refused: of what does not exist, or too many.';
      this.#counter('halyard_report_entries_refused_total', refused, () => logServer.refusedEntries);
    }

    if (upstreams !== undefined) this.#upstreams(upstreams);

    this.#gauge('halyard_project_keys', 'Live project keys.', () => catalog.keys.size, 'max');
    this.#gauge(
      'halyard_environments',
      'Environments served by this node.',
      () => [...catalog.environments()].length,
      'max',
    );
    this.#gauge('halyard_flag_states', 'Flag states served by this node.', () => countStates(catalog), 'max');

    this.#answers(counters);
  }

  /** A stream ended. */
  streamClosed(cause: CloseCause): void {
    this.#streamsClosed.inc({ cause });
  }

  /** The change log was lost. */
  lost(): void {
    this.#listenerLost.inc();
  }

  /** A stored record could not be read. */
  malformed({ kind }: { readonly kind: 'flag' | 'key' }): void {
    this.#malformedRecords.inc({ kind });
  }

  /** A row was applied; the frames of a change have been handed out. */
  applied({ kind, at }: LogRow): void {
    if (kind === 'flags.changed') this.#propagation.observe(Math.max(0, (Date.now() - at) / 1000));
  }

  /** More streams received a change; it is counted once, when it is settled. */
  progressed({ streams, seen, closed, slowestMs, isSettled }: DeliveryProgress): void {
    if (!isSettled) return;
    if (seen > 0) this.#delivery.observe(slowestMs / 1000);
    this.#deliveryStreams.inc({ outcome: 'seen' }, seen);
    this.#deliveryStreams.inc({ outcome: 'closed' }, closed);
    this.#deliveryStreams.inc({ outcome: 'late' }, streams - seen - closed);
  }

  /** Delivery receipts were not stored. */
  receiptsDropped(count: number): void {
    this.#receiptsDropped.inc(count);
  }

  /** The metrics of this process, for another one to combine. */
  report(): Promise<MetricsReport> {
    return this.#registry.getMetricsAsJSON();
  }

  /** All metrics in the format of Prometheus, together with those of other processes. */
  async scrape(others: readonly MetricsReport[] = []): Promise<Response> {
    const { contentType } = this.#registry;
    const registry = others.length === 0 ? this.#registry : await aggregate([await this.report(), ...others]);
    return new Response(await registry.metrics(), { headers: { 'Content-Type': contentType } });
  }

  /** A constant, as dashboards of Prometheus expect it: the version is in the labels. */
  #build(): void {
    const gauge = new Gauge({
      name: 'halyard_build_info',
      help: '1; the labels name the version and the commit.',
      labelNames: ['version', 'commit'],
      aggregator: 'max',
      registers: [this.#registry],
    });
    gauge.set({ version: VERSION, commit: COMMIT ?? 'unknown' }, 1);
  }

  #gauge(name: string, help: string, read: () => number, aggregator: Aggregator = 'sum'): void {
    const gauge: Gauge = new Gauge({
      name,
      help,
      aggregator,
      registers: [this.#registry],
      collect: (): void => gauge.set(finite(read())),
    });
  }

  /**
   * The figures of the process, by the names they usually have. Not those of the library: its monitor of the event loop
   * wakes an idle node a hundred times a second, and its figures of the heap walk all of it.
   */
  #process(files: ReadPlane['files']): void {
    const cpu = (name: string, help: string, read: (usage: NodeJS.CpuUsage) => number) =>
      this.#counter(name, help, () => read(process.cpuUsage()) / 1e6);
    cpu('halyard_process_cpu_user_seconds_total', 'Processor time in user mode.', ({ user }) => user);
    cpu('halyard_process_cpu_system_seconds_total', 'Processor time in the kernel.', ({ system }) => system);
    cpu('halyard_process_cpu_seconds_total', 'Processor time.', ({ user, system }) => user + system);

    const startedAt = Math.round(performance.timeOrigin / 1000);
    this.#gauge('halyard_process_start_time_seconds', 'When the process started.', () => startedAt, 'min');

    const memory = (name: string, help: string, part: keyof NodeJS.MemoryUsage) =>
      this.#gauge(name, help, () => process.memoryUsage()[part]);
    memory('halyard_process_resident_memory_bytes', 'Memory of the process that is in use.', 'rss');
    memory('halyard_nodejs_heap_size_total_bytes', 'Size of the JavaScript heap.', 'heapTotal');
    memory('halyard_nodejs_heap_size_used_bytes', 'JavaScript heap that is in use.', 'heapUsed');
    memory('halyard_nodejs_external_memory_bytes', 'Memory of objects outside the heap.', 'external');

    this.#gauge('halyard_process_open_fds', 'Open files and sockets.', () => files.count());
    this.#gauge('halyard_process_max_fds', 'Files and sockets that may be open.', () => files.limit);
    const refused = 'Streams refused because only the reserve of open files was left.';
    this.#counter('halyard_streams_refused_total', refused, () => files.refused);

    const lag: Gauge = new Gauge({
      name: 'halyard_nodejs_eventloop_lag_seconds',
      help: 'Time that the event loop took for its next turn when asked.',
      aggregator: 'max',
      registers: [this.#registry],
      collect: async (): Promise<void> => {
        const start = performance.now();
        await nextTurn();
        lag.set((performance.now() - start) / 1000);
      },
    });
  }

  /** A counter whose value is kept elsewhere. */
  #counter(name: string, help: string, read: () => number): void {
    this.#counters(name, help, { labelNames: [], read: () => [[{}, read()]] });
  }

  /** A counter whose values are kept elsewhere, each with its labels. */
  #counters(name: string, help: string, { labelNames, read }: LabelledCounts): void {
    const counter: Counter = new Counter({
      name,
      help,
      labelNames,
      registers: [this.#registry],
      collect: (): void => {
        counter.reset();
        for (const [labels, count] of read()) counter.inc(labels, count);
      },
    });
  }

  #webhooks(webhooks: NonNullable<MetricsSources['webhooks']>): void {
    const deliveries =
      'Messages to webhooks by outcome: delivered, failed (retried later), given-up (not delivered within a day).';
    this.#counters('halyard_webhook_deliveries_total', deliveries, {
      labelNames: ['outcome'],
      read: () => Object.entries(webhooks.counts).map(([outcome, count]) => [{ outcome }, count]),
    });
    const lag = 'How long the oldest change waits to be delivered to an active webhook, of all nodes.';
    this.#gauge('halyard_webhook_lag_seconds', lag, () => webhooks.lagSeconds, 'max');
    const failing = 'Active webhooks whose last attempt failed, of all nodes.';
    this.#gauge('halyard_webhooks_failing', failing, () => webhooks.failing, 'max');
  }

  #publishing(publishing: NonNullable<MetricsSources['publishing']>): void {
    const { counts } = publishing;
    this.#counter('halyard_published_total', 'Maps that this node published.', () => counts.published);
    const failed = 'Attempts of this node to publish that failed.';
    this.#counter('halyard_publish_failures_total', failed, () => counts.failed);
    const behind =
      'For how long the newest map of some environment has not been published; 0 at nodes that do not publish.';
    this.#gauge('halyard_publish_behind_seconds', behind, () => publishing.behindSeconds, 'max');
  }

  #upstreams(upstreams: NonNullable<MetricsSources['upstreams']>): void {
    const followed: Gauge = new Gauge({
      name: 'halyard_upstream_followed',
      help: '1 for the upstream that is followed, 0 for the others.',
      labelNames: ['upstream'],
      registers: [this.#registry],
      collect: (): void => {
        for (const { url, isFollowed } of upstreams.states())
          followed.set({ upstream: url }, Number(isFollowed));
      },
    });
  }

  #answers(counters: EvaluationCounters): void {
    const answers = 'Answers of the evaluation interface, by operation and status.';
    this.#counters('halyard_evaluation_answers_total', answers, {
      labelNames: ['operation', 'status'],
      read: () => [...counters.entries()].map(({ count, ...labels }) => [labels, count]),
    });
  }
}

/** The counters and histograms of a report, which still count after their process has ended. */
export function totalsIn(report: MetricsReport): MetricsReport {
  return report.filter(
    (metric) => 'type' in metric && (metric.type === 'counter' || metric.type === 'histogram'),
  );
}

/** Combines reports into one: sums, unless a metric has another aggregator. */
export async function addReports(reports: readonly MetricsReport[]): Promise<MetricsReport> {
  return (await aggregate(reports)).getMetricsAsJSON();
}

async function aggregate(reports: readonly MetricsReport[]): Promise<Registry> {
  const { default: AggregatorRegistry } = await import('prom-client/lib/cluster.js');
  // `object[]`: the reports are not changed.
  return AggregatorRegistry.aggregate(reports as object[]);
}

function countStates(catalog: Catalog): number {
  return [...catalog.environments()].reduce((sum, environment) => sum + environment.size, 0);
}

/** Prometheus knows infinity, but "never" is better read as a very long time. */
function finite(value: number): number {
  return Number.isFinite(value) ? value : 1e9;
}
