import type { Command } from 'commander';
import { type Config, ConfigError, parseConfig } from '../config/config.ts';
import { formatSettings, redactSettings } from '../config/describe-settings.ts';
import { describeUnknownVariables } from '../config/environment.ts';
import { type FlagValues, resolveSettings } from '../config/resolve-settings.ts';
import type { RunningNode } from '../nodes/running-node.ts';
import { COMMIT, VERSION } from '../version.ts';
import { type BannerFacts, firstStartLines, firstSteps, longBanner } from './banner.ts';
import { CliError } from './cli-error.ts';
import { addSettingOptions } from './serve-options.ts';
import type { Shell } from './shell.ts';
import { untilStopped } from './stop-signals.ts';

/** `halyard serve` */
export function defineServe(program: Command, shell: Shell): void {
  const serve = program
    .command('serve')
    .description(
      'Run a node: the flag service with its management API. Without any setting it keeps its data in SQLite in ' +
        './halyard-data, and makes a demo project at the first start.',
    )
    .option(
      '--print-config',
      'Print the settings in effect and where they come from, without secrets, and end.',
    );
  addSettingOptions(serve);
  serve.addHelpText('after', HELP_FOOTER).action(async (flags: FlagValues) => {
    const source = { flags, env: shell.env, isTerminal: shell.isTerminal };
    for (const warning of describeUnknownVariables(shell.env)) shell.writeError(`warning: ${warning}\n`);
    if (flags.printConfig === true) printConfig(shell, source);
    else await serveUntilStopped(parseConfig(source), shell);
  });
}

const HELP_FOOTER = `
Each flag can be given by the environment as well: --max-queued-bytes is HALYARD_MAX_QUEUED_BYTES. A flag goes before
the environment. Secrets can be read from a file: HALYARD_DATABASE_URL_FILE, HALYARD_ADMIN_TOKEN_FILE,
HALYARD_ADMIN_PASSWORD_FILE and HALYARD_METRICS_TOKEN_FILE. The last three have a flag for the file only, as every
user of a machine can read its command lines. "off" takes back a setting that is off by default.

Examples:
  halyard serve
  halyard serve --host 0.0.0.0 --port 8080 --data /var/lib/halyard --bare
  halyard serve --database-url-file /run/secrets/database-url --management-port 7071`;

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
      refuseToStart(error),
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

/** Each line of output for programs is an entry of the log, without a secret. */
async function logStart({ logLevel: level, logFormat: format }: Config, facts: BannerFacts): Promise<void> {
  const { createLogger } = await import('../observability/log.ts');
  const log = createLogger({ level, format });
  for (const { msg, run } of firstSteps(facts)) log.info({ run }, msg);
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

async function refuseToStart(error: unknown): Promise<never> {
  // It says it all, and what to do.
  if (error instanceof Error && error.name === 'ListenError')
    throw new CliError(error.message, { cause: error });
  const { scrub } = await import('../observability/log.ts');
  const message = error instanceof Error ? error.message : String(error);
  throw new CliError(`Halyard cannot start: ${scrub(message)}`, { cause: error });
}
