import { SERVICE_KEY_HEADER } from '@halyard/protocol';
import type { Config } from '../config/config.ts';
import { isThisMachine } from '../config/connection.ts';
import { SETTINGS } from '../config/settings.ts';

/** What the banner tells of a node that has just started. */
export interface BannerFacts {
  readonly version: string;
  /** How this program is called, for the command to copy. */
  readonly invocation: string;
  /** Where flags are read. */
  readonly url: string;
  /** Where this machine manages them. */
  readonly managementUrl: string;
  readonly config: Config;
  /** Where people reach the dashboard. */
  readonly dashboardUrl: string;
  /** Whether the node has its data; not while the database is away. */
  readonly isReady: boolean;
  /** Whether nobody can sign in to the dashboard yet. */
  readonly needsOperator: boolean;
  /** The one-time link for the first administrator, while there is none and a person reads this. */
  readonly setupLink?: string;
  /** The demo project, on a first start only. */
  readonly firstStart?: FirstStart;
}

/** The demo project, and its key where a person reads it, which is shown this once. */
interface FirstStart {
  readonly project: string;
  readonly environment: string;
  readonly key?: string;
}

/** What a person at a terminal is told at the start. Holds the set-up link and the demo key: never log it. */
export function longBanner(facts: BannerFacts): string {
  const { version, url, config, dashboardUrl, isReady, setupLink, firstStart } = facts;
  const engine = config.databaseUrl === undefined ? `${config.data} (SQLite)` : 'PostgreSQL';
  const token =
    config.adminToken === undefined ? `in ${config.data.replace(/\/+$/, '')}/admin-token` : 'as set by you';
  const head = [
    '',
    `  Halyard ${version} is running at ${url}`,
    '',
    `  Dashboard       ${dashboardUrl}/`,
    `  Documentation   ${config.docsUrl ?? `${url}/docs`}`,
    `  Data            ${engine}`,
    `  Admin token     ${token}`,
    '',
    ...(isReady
      ? []
      : ['  The database is out of reach. Until it is back, requests are answered with 500.', '']),
  ];
  const parts = [
    ...head,
    ...(setupLink ? setup(setupLink) : []),
    ...(firstStart?.key ? demo(facts, firstStart) : []),
  ];
  return [...parts, '  Ctrl+C stops it.', '', ''].join('\n');
}

/** What is shown at a first start whose database came after the banner, a line each; empty at every other. */
export function firstStartLines(facts: BannerFacts): string {
  const { setupLink, firstStart } = facts;
  const lines = [
    ...(setupLink ? [`Set up the first administrator (works once, for a day): ${setupLink}`] : []),
    ...(firstStart?.key
      ? [
          `The key of project "${firstStart.project}" (not shown again): ${firstStart.key}`,
          ...commands(facts, firstStart).map(([aim, command]) => `${aim}: ${command}`),
        ]
      : []),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

/** An entry for the log. */
export interface LogEntry {
  readonly msg: string;
  /** The command to run next, ready to copy. */
  readonly run: string;
}

/**
 * What a log says of a first start instead of the banner: a log keeps no secret, so it names the commands that make the
 * first administrator's link and a key.
 */
export function firstSteps(facts: BannerFacts): readonly LogEntry[] {
  const { invocation, needsOperator, firstStart } = facts;
  const operator = {
    msg: 'nobody can sign in to the dashboard yet; this command prints a link for the first administrator',
    run: `${invocation} operator invite <e-mail> --role admin${reach(facts)}`,
  };
  const place = `--project ${firstStart?.project} --env ${firstStart?.environment}`;
  const demo = {
    msg: 'a demo project was made; this command prints a key that reads its flags',
    run: `${invocation} key create ${place} --name first${reach(facts)}`,
  };
  return [...(needsOperator ? [operator] : []), ...(firstStart ? [demo] : [])];
}

function setup(link: string): string[] {
  return [
    '  Nobody can sign in yet. Make the first administrator here; the link works once, for a day:',
    '',
    `    ${link}`,
    '',
  ];
}

function demo(facts: BannerFacts, firstStart: FirstStart): string[] {
  return [
    `  A project "${firstStart.project}" was made for you to try. This is its key; it is not shown again:`,
    '',
    `    ${firstStart.key}`,
    '',
    ...commands(facts, firstStart).flatMap(([aim, command]) => [`  ${aim}:`, '', `    ${command}`, '']),
  ];
}

/** What to try first, ready to copy: what it does, and how. */
function commands(
  facts: BannerFacts,
  { project, environment, key }: FirstStart,
): readonly (readonly [aim: string, command: string])[] {
  const { url, invocation } = facts;
  const header = `-H '${SERVICE_KEY_HEADER}: ${key}'`;
  const place = `--project ${project} --env ${environment}`;
  return [
    ['Read its flags', `curl '${url}/v1/flags?env=${environment}' ${header}`],
    ['Watch them change', `curl -N '${url}/v1/stream?env=${environment}' ${header}`],
    ['Change one, in another terminal', `${invocation} flag set new-checkout ${place} --on${reach(facts)}`],
  ];
}

/** The options that lead another command to this node and its token, where its defaults would not. */
function reach({ managementUrl, config }: BannerFacts): string {
  const isDefault = DEFAULT_URLS.includes(managementUrl);
  const toServer = isDefault ? '' : ` --url ${managementUrl}`;
  const isTokenFound =
    config.adminToken !== undefined ||
    (config.data === SETTINGS.data.default && isThisMachine(managementUrl));
  return toServer + (isTokenFound ? '' : ` --data '${config.data.replaceAll("'", "'\\''")}'`);
}

/** Where commands look for a server, in both ways of writing it. */
const DEFAULT_URLS = [SETTINGS.host.default, 'localhost'].map(
  (host) => `http://${host}:${SETTINGS.port.default}`,
);
