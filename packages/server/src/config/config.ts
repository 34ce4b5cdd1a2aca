import type { Environment as EnvironmentVariables } from './environment.ts';
import { type EffectiveSetting, type FlagValues, resolveSettings } from './resolve-settings.ts';
import { SETTING_NAMES, type SettingName } from './settings.ts';

/** Everything about a node that can be set. The table with defaults and descriptions is `config/settings.ts`. */
export interface Config {
  /** 0 takes any free port. */
  readonly port: number;
  readonly host: string;
  /** The data folder. With `databaseUrl` it holds the file `admin-token` only. */
  readonly data: string;
  /** Present: PostgreSQL is the engine. Absent: SQLite in the data folder. A secret: it may hold a password. */
  readonly databaseUrl?: string;
  readonly databasePoolSize: number;
  /** Whether to start without the demo project. */
  readonly bare: boolean;
  /** A secret. Absent: a token is made at the first start and kept in `<data>/admin-token`. */
  readonly adminToken?: string;
  /** Without a slash at the end. Absent: the address of the listener that serves the dashboard. */
  readonly publicUrl?: string;
  /** With `adminPassword`: the first administrator, made when there is no operator. */
  readonly adminEmail?: string;
  /** A secret. */
  readonly adminPassword?: string;
  /** Without a slash at the end. Absent: the server's own `/docs`. */
  readonly docsUrl?: string;
  /** Absent: management shares `port`. */
  readonly managementPort?: number;
  /** Present only together with `managementPort`; absent: the same as `host`. */
  readonly managementHost?: string;
  /** A secret. Absent: `/metrics` is open. */
  readonly metricsToken?: string;
  /** Absent: no CORS headers. `*` stands for every origin. */
  readonly corsOrigins?: readonly string[];
  /** Whether `X-Forwarded-For` and `X-Forwarded-Host` are believed. */
  readonly trustProxy: boolean;
  /** Requests per second and project key. Absent: unlimited. */
  readonly rateLimit?: number;
  /** Open streams per project key and node. Absent: unlimited. */
  readonly maxStreamsPerKey?: number;
  readonly maxQueuedBytes: number;
  /** Absent: stale answers are served for ever. */
  readonly maxStaleSeconds?: number;
  readonly drainSeconds: number;
  readonly reusePort: boolean;
  readonly logLevel: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';
  /** `auto` is already decided here. */
  readonly logFormat: 'json' | 'pretty';
}

/** Where settings come from. */
export interface ConfigSource {
  /** Values of command-line flags by the name of the setting; absent and `undefined` members were not given. */
  readonly flags: FlagValues;
  readonly env: EnvironmentVariables;
  /** Whether a person watches the output: decides what `logFormat: auto` means. No by default. */
  readonly isTerminal?: boolean;
}

/** Settings that cannot be used. `problems` holds one sentence for each, all of them at once. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(
      problems.length === 1
        ? problems.join()
        : `${problems.length} settings are wrong:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`,
    );
    this.problems = problems;
  }
}

/**
 * Reads all settings: a flag goes before its environment variable, and that before the default. Gives a frozen
 * record, or throws a {@link ConfigError} that names every bad setting.
 */
export function parseConfig(source: ConfigSource): Config {
  const { settings, problems } = resolveSettings(source);
  if (problems.length > 0) throw new ConfigError(problems);
  const config: Record<string, unknown> = {};
  for (const name of SETTING_NAMES) {
    const setting = settings[name];
    if (setting.value !== undefined) config[name] = setting.value;
  }
  // The table gives each member the type that `Config` asks for, and members without a default are optional there.
  return Object.freeze(config) as unknown as Config;
}

/** The environment of this process. Everything that depends on it takes it as an argument. */
export function processEnvironment(): EnvironmentVariables {
  return process.env;
}

export type { EffectiveSetting, EnvironmentVariables, FlagValues, SettingName };
