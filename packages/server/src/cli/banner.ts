import { resolve } from 'node:path';
import { SERVICE_KEY_HEADER } from '@halyard/protocol';
import type { Config } from '../config/config.ts';
import { isThisMachine } from '../config/connection.ts';
import { SETTINGS } from '../config/settings.ts';
import { quoteWord } from './shell.ts';

/** Facts about a node that has just started. */
export interface BannerFacts {
  readonly version: string;
  /** How this program was called, for commands to copy. */
  readonly invocation: string;
  /** Address that serves flags. */
  readonly url: string;
  /** Address of the management API on this machine. */
  readonly managementUrl: string;
  readonly config: Config;
  /** Address of the dashboard for people. */
  readonly dashboardUrl: string;
  /** Whether the node has its data; false while the database is unreachable. */
  readonly isReady: boolean;
  /** Whether no operator exists yet. */
  readonly needsOperator: boolean;
  /** The one-time link for the first administrator, if no operator exists and the output is for a person. */
  readonly setupLink?: string;
  /** The demo project, on the first start only. */
  readonly firstStart?: FirstStart;
}

/** The demo project, and its key if the output is for a person: it is shown only once. */
interface FirstStart {
  readonly project: string;
  readonly environment: string;
  readonly key?: string;
}

/** The start message for a terminal. Contains the setup link and the demo key: never log it. */
export function longBanner(facts: BannerFacts): string {
  const { version, url, config, dashboardUrl, isReady, setupLink, firstStart } = facts;
  const engine = config.databaseUrl === undefined ? `${config.data} (SQLite)` : 'PostgreSQL';
  const scope = config.databaseUrl === undefined ? '' : ' (for this node only)';
  const token =
    config.adminToken === undefined
      ? `in ${config.data.replace(/\/+$/, '')}/admin-token${scope}`
      : 'as you set it';

  const head = [
    '',
    `  Halyard ${version} is running at ${url}`,
    '',
    `  Dashboard       ${dashboardUrl}/`,
    `  Documentation   ${config.docsUrl ?? `${url}/docs`}`,
    `  Data            ${engine}`,
    `  Admin token     ${token}`,
    ...(reach(facts) === '' ? [] : [`  Command line    export ${variables(facts)}`]),
    '',
    ...(isReady ? [] : ['  The database is unreachable. Requests fail with 500 until it is back.', '']),
  ];

  const parts = [
    ...head,
    ...(setupLink ? setup(setupLink) : []),
    ...(firstStart?.key ? demo(facts, firstStart) : []),
  ];
  return [...parts, '  Press Ctrl+C to stop.', '', ''].join('\n');
}

/** The parts of a first start that came after the banner, a line each, because the database was late; empty otherwise. */
export function firstStartLines(facts: BannerFacts): string {
  const { setupLink, firstStart } = facts;
  const lines = [
    ...(setupLink ? [`Create the first administrator (works once, for a day): ${setupLink}`] : []),
    ...(firstStart?.key
      ? [
          `Key of project "${firstStart.project}" (not shown again): ${firstStart.key}`,
          ...commands(facts, firstStart).map(([purpose, command]) => `${purpose}: ${command}`),
        ]
      : []),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

/**
 * Log messages of a first start. A log must not contain secrets, so each ends with the command that creates the first
 * administrator's link or a key, ready to copy.
 */
export function firstSteps(facts: BannerFacts): readonly string[] {
  const { invocation, needsOperator, firstStart } = facts;
  const operator =
    'no operator exists yet (operators sign in to the dashboard): to print a link for the first administrator, ' +
    `run: ${invocation} operator invite <email> --role admin${reach(facts)}`;
  const place = `--project ${firstStart?.project} --env ${firstStart?.environment}`;
  const demo =
    'created a demo project: to print a key that reads its flags, ' +
    `run: ${invocation} key create ${place} --name first${reach(facts)}`;
  return [...(needsOperator ? [operator] : []), ...(firstStart ? [demo] : [])];
}

function setup(link: string): string[] {
  return ['  Create the first administrator here. The link works once, for a day:', '', `    ${link}`, ''];
}

function demo(facts: BannerFacts, firstStart: FirstStart): string[] {
  return [
    `  Project "${firstStart.project}" is ready to try. This is its key; you cannot see it again:`,
    '',
    `    ${firstStart.key}`,
    '',
    ...commands(facts, firstStart).flatMap(([purpose, command]) => [
      `  ${purpose}:`,
      '',
      `    ${command}`,
      '',
    ]),
  ];
}

/** First commands to copy, each with its purpose. */
function commands(
  facts: BannerFacts,
  { project, environment, key }: FirstStart,
): readonly (readonly [purpose: string, command: string])[] {
  const { url, invocation } = facts;
  const header = `-H '${SERVICE_KEY_HEADER}: ${key}'`;
  const place = `--project ${project} --env ${environment}`;
  return [
    ['Read its flags', `curl '${url}/v1/flags?env=${environment}' ${header}`],
    ['Watch them change', `curl -N '${url}/v1/stream?env=${environment}' ${header}`],
    ['Change one in another terminal', `${invocation} flag set new-checkout ${place} --on${reach(facts)}`],
  ];
}

/** The options that another command needs to find this node and its token. */
function reach(facts: BannerFacts): string {
  const { url, data } = whereabouts(facts);
  return `${url === undefined ? '' : ` --url ${url}`}${data === undefined ? '' : ` --data ${data}`}`;
}

/** The same as variables, for all commands that follow in a shell. */
function variables(facts: BannerFacts): string {
  const { url, data } = whereabouts(facts);
  const set = [['HALYARD_URL', url] as const, ['HALYARD_DATA', data] as const];
  return set.flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${value}`])).join(' ');
}

/** The address of this node and its data folder, quoted for a shell; each absent where a command finds it by itself. */
function whereabouts({ managementUrl, config }: BannerFacts): {
  readonly url?: string;
  readonly data?: string;
} {
  const isTokenFound =
    config.adminToken !== undefined ||
    (config.data === SETTINGS.data.default && isThisMachine(managementUrl));
  return {
    ...(!DEFAULT_URLS.includes(managementUrl) && { url: managementUrl }),
    ...(!isTokenFound && { data: quoteWord(resolve(config.data)) }),
  };
}

/** The default server addresses of commands. */
const DEFAULT_URLS = [SETTINGS.host.default, 'localhost'].map(
  (host) => `http://${host}:${SETTINGS.port.default}`,
);
