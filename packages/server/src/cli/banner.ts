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
  /** The one-time link for the first administrator, while there is none. */
  readonly setupLink?: string;
  /** The demo project, on a first start only. */
  readonly firstStart?: FirstStart;
}

/** The demo project with its key, which is shown this once. */
interface FirstStart {
  readonly project: string;
  readonly environment: string;
  readonly key: string;
}

/** What a person at a terminal is told at the start. Holds the set-up link and the demo key: never log it. */
export function longBanner(facts: BannerFacts): string {
  const { version, url, config, dashboardUrl, setupLink, firstStart } = facts;
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
  ];
  const parts = [
    ...head,
    ...(setupLink ? setup(setupLink) : []),
    ...(firstStart ? demo(facts, firstStart) : []),
  ];
  return [...parts, '  Ctrl+C stops it.', '', ''].join('\n');
}

/** What is printed where no person is looking: the address, and what is shown at a first start, a line each. */
export function shortBanner(facts: BannerFacts): string {
  return `Halyard is running at ${facts.url}\n${firstStartLines(facts)}`;
}

/** What is shown at a first start, a line each; empty at every other. */
export function firstStartLines(facts: BannerFacts): string {
  const { setupLink, firstStart } = facts;
  const lines = [
    ...(setupLink ? [`Set up the first administrator (works once, for a day): ${setupLink}`] : []),
    ...(firstStart
      ? [
          `The key of project "${firstStart.project}" (not shown again): ${firstStart.key}`,
          ...commands(facts, firstStart).map(([aim, command]) => `${aim}: ${command}`),
        ]
      : []),
  ];
  return lines.map((line) => `${line}\n`).join('');
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
