import type { Config } from './config.ts';

/** The settings that a worker needs: none of them is a secret. */
const WORKER_SETTINGS = [
  'host',
  'port',
  'corsOrigins',
  'trustProxy',
  'rateLimit',
  'maxStreamsPerKey',
  'maxQueuedBytes',
  'maxStaleSeconds',
  'logLevel',
  'logFormat',
] as const satisfies readonly (keyof Config)[];

/** Those settings of a node or relay. */
export type WorkerConfig = Pick<Config, (typeof WORKER_SETTINGS)[number]>;

/** Takes them out of the settings of a node or relay: nothing else of these reaches its workers. */
export function workerConfigIn(config: WorkerConfig): WorkerConfig {
  const given = WORKER_SETTINGS.filter((name) => config[name] !== undefined);
  // `WorkerConfig`: all of its members, as far as they are set.
  return Object.fromEntries(given.map((name) => [name, config[name]])) as WorkerConfig;
}
