import { type Config, ConfigError, type FlagValues, parseConfig, resolveSettings } from '../config/config.ts';
import { describeUnknownVariables, formatSettings, redactSettings } from '../config/describe-settings.ts';
import { SETTINGS } from '../config/settings.ts';
import type { RunningNode } from '../nodes/running-node.ts';
import { COMMIT, VERSION } from '../version.ts';
import { type BannerFacts, firstStartLines, firstSteps, longBanner } from './banner.ts';
import { CliError } from './cli-error.ts';
import { localCommand } from './command.ts';
import { toggle } from './options.ts';
import { settingOptions } from './setting-options.ts';
import type { Shell } from './shell.ts';

/** `halyard serve` */
export const serveCommand = localCommand({
  usage: 'serve',
  about:
    'Start a node: the flag service with its management API and dashboard. Without settings, it stores data in ' +
    './halyard-data (SQLite) and creates a demo project on the first start.',
  options: {
    printConfig: toggle('Print the settings in effect and their origins, without secrets, and exit'),
    ...settingOptions(SETTINGS),
  },
  help:
    'Every option has an environment variable: --max-queued-bytes is HALYARD_MAX_QUEUED_BYTES. Options override variables.\n' +
    'Secrets can be read from a file: HALYARD_DATABASE_URL_FILE, HALYARD_ADMIN_TOKEN_FILE, HALYARD_ADMIN_PASSWORD_FILE,\n' +
    'HALYARD_OIDC_CLIENT_SECRET_FILE and HALYARD_METRICS_TOKEN_FILE. The last four have an option for the file only, because\n' +
    'every user of a machine can read its command lines. "off" turns off a setting that is off by default.',
  examples: [
    'halyard serve',
    'halyard serve --host 0.0.0.0 --port 8080 --data /var/lib/halyard --bare',
    'halyard serve --database-url-file /run/secrets/database-url --management-port 7071',
  ],
  run: async (flags: FlagValues, shell) => {
    const source = { flags, env: shell.env, isTerminal: shell.isTerminal };
    for (const warning of describeUnknownVariables(shell.env)) shell.writeError(`warning: ${warning}\n`);
    if (flags.printConfig === true) printConfig(shell, source);
    else await serveUntilStopped(parseConfig(source), shell);
  },
});

function printConfig(shell: Shell, source: Parameters<typeof resolveSettings>[0]): void {
  const { settings, problems } = resolveSettings(source);
  if (problems.length > 0) throw new ConfigError(problems);
  shell.write(
    shell.isTerminal
      ? formatSettings(settings)
      : `${JSON.stringify(redactSettings(settings), undefined, 2)}\n`,
  );
}

async function serveUntilStopped(config: Config, shell: Shell): Promise<void> {
  const { startNode } = await import('../nodes/full.ts');
  await untilStopped(shell, async () => {
    const late = Promise.withResolvers<RunningNode>();
    const node = await startNode(config, { onLateStart: late.resolve }).catch((error: unknown) =>
      failToStart(error),
    );
    const facts = factsOf(node, config, shell);
    if (config.logFormat === 'json') {
      await logStart(config, facts);
      void late.promise.then((later) => logStart(config, factsOf(later, config, shell)));
    } else {
      shell.write(longBanner(facts));
      void late.promise.then((later) => shell.write(firstStartLines(factsOf(later, config, shell))));
    }
    return node;
  });
}

/** Logs the start for programs, without secrets. */
async function logStart({ logLevel: level, logFormat: format }: Config, facts: BannerFacts): Promise<void> {
  const { createLogger } = await import('../observability/logger.ts');
  const log = createLogger({ level, format });
  for (const step of firstSteps(facts)) log.info(step);
  log.info(
    { version: VERSION, commit: COMMIT, url: facts.url, dashboard: facts.dashboardUrl, ready: facts.isReady },
    'Halyard is running',
  );
}

function factsOf(node: RunningNode, config: Config, { invocation }: Shell): BannerFacts {
  const { url, managementUrl, dashboardUrl } = node;
  const addresses = { url, managementUrl, dashboardUrl };
  return { version: VERSION, invocation, config, ...addresses, isReady: node.isReady(), ...node.prepared() };
}

/** Says why a node cannot start, without a stack. */
export async function failToStart(error: unknown): Promise<never> {
  // Its message is complete.
  if (error instanceof Error && error.name === 'ListenError')
    throw new CliError(error.message, { cause: error });
  const { scrub } = await import('../observability/logger.ts');
  const message = error instanceof Error ? error.message : String(error);
  throw new CliError(`Cannot start Halyard: ${scrub(message)}`, { cause: error });
}

/** Something that runs until it is stopped. */
export interface Stoppable {
  /** Settles once it has stopped. */
  readonly closed: Promise<void>;
  stop(): Promise<void>;
}

/** Signals this close together count as one: a wrapper such as npx passes on what the terminal sends to both. */
const SAME_SIGNAL_MS = 1000;

/** How long leftover work may keep the process alive after a stop. */
const LINGER_MS = 1000;

/**
 * Starts something and waits until it has stopped. The first SIGTERM or SIGINT stops it in order, or breaks off the start;
 * a later one (after {@link SAME_SIGNAL_MS}) ends the process at once with exit code 1.
 */
export async function untilStopped(shell: Shell, start: () => Promise<Stoppable>): Promise<void> {
  let running: Stoppable | undefined;
  let stoppingSince: number | undefined;
  const onSignal = (signal: string) => {
    if (running === undefined) {
      // Nothing serves yet, and a start can be broken off anywhere, as by a crash.
      shell.writeError(`Received ${signal} before the start was complete.\n`);
      process.exit(0);
    }

    if (stoppingSince !== undefined) {
      if (performance.now() - stoppingSince < SAME_SIGNAL_MS) return;
      process.exit(1);
    }

    stoppingSince = performance.now();
    const again = signal === 'SIGINT' ? 'Press Ctrl+C again to force quit.' : 'Send it again to force quit.';
    shell.writeError(`Received ${signal}, shutting down. ${again}\n`);

    running.stop().catch((error: unknown) => {
      shell.writeError(
        `error: Cannot shut down: ${error instanceof Error ? error.message : String(error)}\n`,
      );
      process.exit(1);
    });
  };

  process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
  try {
    running = await start();
    await running.closed;
  } finally {
    process.off('SIGTERM', onSignal).off('SIGINT', onSignal);
    // Leftover work must not force a supervisor to kill the process.
    setTimeout(() => process.exit(), LINGER_MS).unref();
  }
}
