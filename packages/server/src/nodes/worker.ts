import type { Config } from '../config/config.ts';
import type { WorkerConfig } from '../config/worker-config.ts';
import type { LastKnownPlace } from '../evaluation/last-known/last-known-file.ts';
import { RemoteLog } from '../evaluation/log/remote-log.ts';
import { ReadPlane } from '../evaluation/read-plane.ts';
import { evaluationRoutes } from '../evaluation/routes.ts';
import { evaluationContext } from '../evaluation/serving/context.ts';
import { forwardTo, INNER_PATH, type InnerAddress } from '../http/forwarding.ts';
import { Listeners } from '../http/listeners.ts';
import { forwardedHealthRoutes } from '../http/monitoring.ts';
import { createLogger } from '../observability/logger.ts';
import { Metrics } from '../observability/metrics.ts';
import { processChannel, type SupervisorChannel } from '../workers/supervisor-channel.ts';
import { SupervisorLink } from '../workers/supervisor-link.ts';
import { CURRENT_WITHIN_MS, findLastKnown } from './start-from-last-known.ts';

export { processChannel };

/**
 * The settings that the supervisor sends a worker. The only secret in them is the token in `inner`, which proves that a request
 * comes from a process of the node.
 */
export interface WorkerSettings {
  readonly number: number;
  readonly inner: InnerAddress;
  /** `port` is the one that the workers share. */
  readonly config: WorkerConfig;
  readonly docsUrl: string;
  /** Where the supervisor keeps the last known flags, if it does. */
  readonly lastKnown?: LastKnownPlace;
}

/** Longest the supervisor may take to say whether the node is ready, in milliseconds. */
const HEALTH_MS = 1000;

/** Longest a worker finishes requests after its supervisor has died, in milliseconds. */
const ORPHAN_MS = 500;

/**
 * Runs a worker: the read plane over the supervisor's log, on the port that all workers share. Every request that is
 * not an evaluation goes to the supervisor. Resolves when it has stopped; ends the process when the
 * supervisor has died.
 */
export async function runWorker(channel: SupervisorChannel): Promise<void> {
  const settings = await firstMessage(channel);
  const { number, inner, config, docsUrl, lastKnown } = settings;
  const log = createLogger({ level: quieter(config.logLevel), format: config.logFormat }).child({
    worker: number,
  });

  const source = new RemoteLog({
    url: `http://localhost${INNER_PATH}`,
    unix: inner.socket,
    token: inner.token,
  });
  const plane = new ReadPlane({ ...config, source, log });
  const metrics = new Metrics({ plane });
  const context = evaluationContext(plane, {
    ...config,
    docsUrl,
    log,
    streamsElsewhere: (keyId) => link.streamsElsewhere(keyId),
  });

  const { rateLimiter } = context;
  const stopped = Promise.withResolvers<void>();
  let listeners: Listeners | undefined;

  const link = new SupervisorLink(
    channel,
    {
      streams: plane.streams,
      streamsIn: (environmentId) => plane.hub.streamsIn(environmentId),
      isLive: () => plane.freshness.isCurrent,
      ...(rateLimiter && { takePassed: () => rateLimiter.takePassed() }),
      metrics: () => metrics.report(),
      usedKeys: async () => [...(await plane.takeUsedKeys())],
      takeUsage: () => plane.usage.take(),
    },
    {
      pay: (keyId, count) => rateLimiter?.pay(keyId, count),
      retry: () => plane.follower.retry(),
      drain: async (windowMs) => {
        await Promise.all([plane.drain(windowMs), listeners?.drain(windowMs)]);
      },
      stop: async () => {
        await listeners?.close();
        stopped.resolve();
      },
    },
  );

  // The supervisor counts the rows, losses and deliveries of the machine once.
  plane.observe({ streamClosed: (cause) => metrics.streamClosed(cause) });
  plane.observe(link);

  channel.onLost(async () => {
    // (Spec: S6.5) The log is lost.
    plane.close();
    await Promise.race([listeners?.close(), Bun.sleep(ORPHAN_MS)]);
  });

  const found = lastKnown && (await findLastKnown(lastKnown, log));
  plane.start(found && { ...found, continues: false });
  // Where the first proof is old when it comes, the next one makes this process current. (Spec: S14.9)
  await plane.attempted(CURRENT_WITHIN_MS);
  await plane.firstAttempt;
  await plane.follower.waitForApplied(await link.ready(plane.follower.seq));
  try {
    listeners = new Listeners({ host: config.host, port: config.port, reusePort: true });
  } catch (error) {
    channel.send({ kind: 'refused', message: error instanceof Error ? error.message : String(error) });
    throw error;
  }
  const forward = forwardTo(inner, { docsUrl, log });
  listeners.serve({
    files: plane.files,
    evaluation: evaluationRoutes(context),
    health: forwardedHealthRoutes(forwardTo(inner, { docsUrl, log, answerMs: HEALTH_MS }), plane.freshness),
    scrape: forward,
    docs: forward,
    docsUrl,
    log,
  });
  channel.send({ kind: 'listening' });
  await stopped.promise;
  plane.close();
  link.close();
  // The last messages are on their way; without the channel nothing keeps the process.
  channel.close();
}

/** What is normal for every worker is logged once, by the supervisor. */
function quieter(level: Config['logLevel']): Config['logLevel'] {
  return level === 'info' ? 'warn' : level;
}

function firstMessage(channel: SupervisorChannel): Promise<WorkerSettings> {
  const { promise, resolve } = Promise.withResolvers<WorkerSettings>();
  channel.onMessage((message) => {
    // `WorkerSettings`: the supervisor is the same program, and sends them first (nodes/workers.ts).
    if (message.kind === 'start') resolve(message.settings as WorkerSettings);
  });
  return promise;
}
