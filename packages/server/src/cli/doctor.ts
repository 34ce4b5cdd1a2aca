import { hasValidChecksum, isRecord, SERVICE_KEY_HEADER } from '@halyard/protocol';
import { resolveAddress } from '../config/connection.ts';
import { httpUrl } from '../config/setting-readers.ts';
import { type ApiClient, apiPath, readEvents } from './api-client.ts';
import { CliError } from './cli-error.ts';
import { command, connect } from './command.ts';
import { describeConnectionFailure } from './connection-failure.ts';
import type { Fields } from './fields.ts';
import { type CONNECTION, checkedOption, option, toggle, type ValuesOf } from './options.ts';
import { formatTable, printable, wantsJson } from './output.ts';
import { asCalled, type Shell } from './shell.ts';

const OPTIONS = {
  key: option('<key>', 'Check this project key and a stream, too; "-" reads the key from standard input'),
  env: option('<environment>', 'Environment to read with the key', { default: 'production' }),
  readUrl: option('<url>', 'Address that serves flags, if it differs from the management API'),
  readiness: toggle('Check only that the server is ready for traffic; needs no token'),
  liveness: toggle('Check only that the server runs; needs no token and no database', {
    conflicts: 'readiness',
  }),
};

type DoctorOptions = ValuesOf<typeof OPTIONS & typeof CONNECTION>;

/** `halyard doctor` */
export const doctorCommand = command({
  usage: 'doctor',
  about:
    'Check the connection to the server, the access token and a project key. Exits with 1 if a check fails.',
  options: OPTIONS,
  examples: [
    'halyard doctor',
    "halyard doctor --liveness     decide whether to restart a node, as in a container's health check",
    'halyard doctor --readiness    decide whether to send traffic to a node; fails on all nodes without the database',
    'halyard doctor --url https://flags.example.com --key - --env production < key.txt',
  ],
  run: async (options, shell) => {
    const findings = await runChecks(shell, options);
    shell.write(wantsJson(shell, options) ? asJson(findings) : asCalled(shell, asTable(findings)));

    const [first, ...others] = findings.filter(({ outcome }) => outcome === 'failed');
    if (first === undefined) return;
    if (others.length === 0) throw new CliError(`The ${first.check} check failed.`);
    throw new CliError(`${others.length + 1} of ${findings.length} checks failed.`);
  },
});

async function runChecks(shell: Shell, options: DoctorOptions): Promise<Finding[]> {
  const address = resolveAddress(options, shell.env);
  const readUrl =
    options.readUrl === undefined ? address.readUrl : checkedOption('--read-url', options.readUrl, httpUrl);

  // These need no token, so an unreadable token file must not fail them.
  if (options.readiness === true) return [await checkReadiness(readUrl)];
  if (options.liveness === true) return await checkServer(readUrl, shell.now);

  const client = connect(shell, options);
  const findings = await checkServer(client.url, shell.now);
  if (findings.some(({ outcome }) => outcome === 'failed')) return findings;
  findings.push(await checkReadiness(readUrl), await checkToken(client), ...(await checkPeople(client)));

  if (options.key === undefined) return findings;
  const key = options.key === '-' ? (await shell.readInput()).trim() : options.key;
  const keyToCheck = { key, environment: options.env };
  const keyFinding = await checkKey(readUrl, keyToCheck);
  findings.push(keyFinding);
  if (keyFinding.outcome === 'ok') findings.push(await checkStream(readUrl, keyToCheck, { now: shell.now }));
  return findings;
}

function asJson(findings: readonly Finding[]): string {
  return `${JSON.stringify({ ok: findings.every(({ outcome }) => outcome !== 'failed'), findings })}\n`;
}

function asTable(findings: readonly Finding[]): string {
  return formatTable(
    ['', 'CHECK', 'RESULT'],
    findings.map(({ check, outcome, detail }) => [outcome, check, printable(detail)]),
  );
}

/** The result of a check. */
export interface Finding {
  readonly check: string;
  readonly outcome: 'ok' | 'warning' | 'failed';
  /** The observation, and for a failure what to do next. Never a secret. */
  readonly detail: string;
}

function finding(outcome: Finding['outcome'], check: string, detail: string): Finding {
  return { check, outcome, detail };
}

/** A project key to check, and its environment. */
export interface KeyToCheck {
  readonly key: string;
  readonly environment: string;
}

/** Timeout of an answer or a first frame, in milliseconds. */
const TIMEOUT_MS = 5000;

/** The largest clock difference that is not reported, in seconds. */
const CLOCK_TOLERANCE_SECONDS = 60;

/** Checks that the server answers and that its clock agrees with this machine's. */
export async function checkServer(url: string, now: () => number): Promise<Finding[]> {
  const startedAt = now();
  const response = await get(url, '/healthz');
  if (typeof response === 'string') return [finding('failed', 'server', response)];
  if (!response.ok) {
    const detail = `${url}/healthz returned ${response.status}. Is this address a Halyard server?`;
    return [finding('failed', 'server', detail)];
  }
  await response.body?.cancel();
  const server = finding('ok', 'server', `answered in ${now() - startedAt} ms`);
  return [server, ...checkClock(response, now())];
}

function checkClock(response: Response, now: number): Finding[] {
  const serverTime = Date.parse(response.headers.get('date') ?? '');
  if (Number.isNaN(serverTime)) return [];
  const seconds = Math.round(Math.abs(now - serverTime) / 1000);
  if (seconds <= CLOCK_TOLERANCE_SECONDS) return [finding('ok', 'clock', 'in sync with the server')];
  const detail = `${seconds} s away from the server's clock, which decides when keys and tokens expire.`;
  return [finding('warning', 'clock', detail)];
}

/** Checks that the server is ready for traffic. */
async function checkReadiness(url: string): Promise<Finding> {
  const response = await get(url, '/readyz');
  if (typeof response === 'string') return finding('failed', 'readiness', response);
  const body: unknown = await response.json().catch(() => undefined);
  const members = isRecord(body) ? body : {};
  if (!response.ok) return finding('failed', 'readiness', whyNotReady(members));
  if (typeof members.warning === 'string') return finding('warning', 'readiness', members.warning);
  return finding('ok', 'readiness', 'ready for traffic');
}

function whyNotReady({ reason }: { readonly reason?: unknown }): string {
  if (reason !== undefined) return `not ready: ${reason}`;
  return 'not ready: its database is unreachable, or it is shutting down. Check its log.';
}

/** Checks that the access token works. */
async function checkToken(client: ApiClient): Promise<Finding> {
  try {
    const { fields } = await client.request({ path: apiPath`/whoami` });
    return finding('ok', 'access token', `belongs to ${fields.text('name')}${roleIn(fields)}`);
  } catch (error) {
    const isElsewhere = error instanceof CliError && error.code === 'not_found';
    const detail = error instanceof Error ? error.message : String(error);
    return finding('failed', 'access token', isElsewhere ? NOT_MANAGED_HERE : detail);
  }
}

/** Warns if the server has people and none of them is an administrator. A token that does not see all people finds nothing out. */
async function checkPeople(client: ApiClient): Promise<Finding[]> {
  try {
    const { fields } = await client.request({ path: apiPath`/whoami` });
    if (fields.optionalText('role') !== 'admin') return [];
    const roles: string[] = [];
    for await (const page of client.pages({ path: apiPath`/operators` })) {
      roles.push(...page.fields.list('operators').map((operator) => operator.text('role')));
    }
    return roles.length === 0 || roles.includes('admin') ? [] : [NO_ADMIN];
  } catch {
    // The check of the token says why.
    return [];
  }
}

const NO_ADMIN = finding(
  'warning',
  'people',
  'no administrator is left. Give someone a group with the role admin at the identity provider, or run "halyard operator invite <email> --role admin".',
);

/** Servers older than roles return none. */
function roleIn(fields: Fields): string {
  const role = fields.optionalText('role');
  return role === undefined ? '' : `, with the role ${role}`;
}

const NOT_MANAGED_HERE =
  'not checked: this address does not serve the management API. If that has its own port, set --url to it and ' +
  '--read-url to this address.';

/** Checks that the project key reads the environment. */
export async function checkKey(url: string, { key, environment }: KeyToCheck): Promise<Finding> {
  const check = 'project key';
  if (!/^[\x21-\x7e]+$/.test(key)) return finding('failed', check, MALFORMED_KEY);

  const response = await get(url, `/v1/flags?env=${encodeURIComponent(environment)}`, key);
  if (typeof response === 'string') return finding('failed', check, response);
  if (response.ok) {
    await response.body?.cancel();
    return finding('ok', check, `reads ${environment}`);
  }

  if ((await errorCodeOf(response)) === 'not_found') return finding('failed', check, NOT_READ_HERE);
  const reasons: Readonly<Record<number, string>> = {
    401: hasValidChecksum(key)
      ? 'rejected: the key is revoked, expired, or belongs to another server.'
      : 'rejected: the checksum of the key is wrong, so it was mistyped or cut off.',
    404: `the key cannot read ${environment}. Set --env to one of its environments.`,
  };
  return finding('failed', check, reasons[response.status] ?? `the server returned ${response.status}.`);
}

/** Such a text cannot be sent in a header. */
const MALFORMED_KEY =
  'the key is empty or contains invalid characters. Copy the whole key again, without spaces.';

const NOT_READ_HERE =
  'not checked: this address serves the management API only. Set --read-url to the address that serves flags.';

/** The code in an error's body; `undefined` for any other body. */
async function errorCodeOf(response: Response): Promise<unknown> {
  const body: unknown = await response.json().catch(() => undefined);
  return typeof body === 'object' && body !== null && 'error' in body ? body.error : undefined;
}

/** Checks that a stream opens and that its first frame arrives, so that no proxy buffers it. */
export async function checkStream(
  url: string,
  key: KeyToCheck,
  // Milliseconds; the timeout is that of the first frame.
  options: { readonly now: () => number; readonly timeoutMs?: number },
): Promise<Finding> {
  const startedAt = options.now();
  const stop = new AbortController();
  const timeout = setTimeout(() => stop.abort(), options.timeoutMs ?? TIMEOUT_MS);

  try {
    const problem = await findStreamProblem(url, key, stop.signal);
    if (problem !== undefined) return finding('failed', 'stream', problem);
    return finding('ok', 'stream', `first frame after ${options.now() - startedAt} ms`);
  } finally {
    clearTimeout(timeout);
    stop.abort();
  }
}

/** Waits for the first frame; `undefined` once it arrives. */
async function findStreamProblem(
  url: string,
  key: KeyToCheck,
  signal: AbortSignal,
): Promise<string | undefined> {
  const address = `${url}/v1/stream?env=${encodeURIComponent(key.environment)}`;
  const headers = { [SERVICE_KEY_HEADER]: key.key, accept: 'text/event-stream' };

  let hasBegun = false;
  try {
    const response = await fetch(address, { headers, redirect: 'error', signal });
    hasBegun = response.ok;
    if (!response.ok || response.body === null) return `the server returned ${response.status}.`;
    for await (const _frame of readEvents(response.body, () => {})) return undefined;
    return 'the stream ended before its first frame.';
  } catch (error) {
    if (signal.aborted) return hasBegun ? BUFFERED_FRAME : NO_RESPONSE;
    return describeConnectionFailure(error, { url, timeoutMs: TIMEOUT_MS, isWrite: false });
  }
}

const BUFFERED_FRAME =
  'the first frame never arrived: a proxy is buffering the response. Turn off its buffering for /v1/stream.';
const NO_RESPONSE =
  'no response: a proxy buffers or blocks the stream. Turn off its buffering for /v1/stream.';

/** Returns the response, or a sentence that explains the failure. */
async function get(url: string, path: string, key?: string): Promise<Response | string> {
  try {
    const headers: Record<string, string> = key === undefined ? {} : { [SERVICE_KEY_HEADER]: key };
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    return await fetch(url + path, { headers, redirect: 'error', signal });
  } catch (error) {
    return describeConnectionFailure(error, { url, timeoutMs: TIMEOUT_MS, isWrite: false });
  }
}
