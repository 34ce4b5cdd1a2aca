import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { type NodeProcess, openSse, startNode, until } from '@halyard/testing';
import { Contract } from '../app/test-contract.ts';
import { Receiver } from '../nouns/webhooks/test-receiver.ts';

setDefaultTimeout(60_000);

/** Redirects that need an identity provider. The application of the tests compares each exchange, these too. */
const ELSEWHERE = ['startSingleSignOn', 'finishSingleSignOn'];

const SET_UP_LINK = /\/setup#(hin_\w{43})\n/;

/** What a request of a test may have. */
interface Sent {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

let node: NodeProcess;
let contract: Contract;
const receiver = new Receiver();
const seen = new Set<string>();

beforeAll(async () => {
  // A node for people prints the link for the first of them.
  const env = { HALYARD_WEBHOOK_NETWORKS: '127.0.0.0/8', HALYARD_LOG_FORMAT: 'pretty' };
  node = await startNode({ env });
  await until('the node prints the link', () => SET_UP_LINK.test(node.logs()));
  contract = new Contract(await (await fetch(`${node.url}/api/openapi.json`)).json());
}, 60_000);
afterAll(() => {
  receiver.stop();
  return node.stop();
});

/** Sends a request that must be accepted, and compares it and its answer with the document. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape.
async function send(method: string, target: string, { body, headers }: Sent): Promise<any> {
  const sent = body === undefined ? undefined : JSON.stringify(body);
  const leaving = new AbortController();
  const answer = await fetch(node.url + target, {
    method,
    headers: { 'Content-Type': 'application/json', ...headers },
    ...(sent !== undefined && { body: sent }),
    signal: leaving.signal,
  });
  const isStream = answer.headers.get('Content-Type') === 'text/event-stream';
  const text = isStream ? 'data: …' : await answer.text();
  if (isStream) leaving.abort();
  expect([method, target, answer.ok ? 'accepted' : text]).toEqual([method, target, 'accepted']);
  expect(contract.problemsOf({ method, target, sent, answer, text })).toEqual([]);
  seen.add(contract.operationOf(method, target)?.described.operationId);
  return text.startsWith('{') ? JSON.parse(text) : answer;
}

/** As the administration token. */
function ask(method: string, target: string, body?: unknown) {
  return send(method, target, { body, headers: { Authorization: `Bearer ${node.adminToken}` } });
}

test('each operation accepts what the document describes, and answers as it describes', async () => {
  await useProject();
  await useFlags();
  await useHistory();
  await useRollouts();
  await useWebhooks();
  await readFlags();
  await useCodeReferences();
  await useTokens();
  await usePeople();
  await removeAll();
  const all = contract.operations.map(({ described }) => described.operationId as string);
  expect(all.filter((id) => !seen.has(id)).sort()).toEqual([...ELSEWHERE].sort());
});

const PROJECT = '/api/projects/shop';
const PRODUCTION = `${PROJECT}/environments/production`;

async function useProject(): Promise<void> {
  await ask('GET', '/api/openapi.json');
  await ask('POST', '/api/projects', { name: 'shop' });
  await ask('PATCH', PROJECT, { usage: true });
  await ask('GET', PROJECT);
  await ask('GET', '/api/projects');
  await ask('POST', `${PROJECT}/environments`, { name: 'extra', protected: true, color: 'teal' });
  await ask('PATCH', `${PROJECT}/environments/extra`, { protected: false, position: 0 });
  await ask('GET', `${PROJECT}/environments`);
  await ask('PUT', `${PROJECT}/environments/extra/publication`, { withoutKey: true });
  await ask('GET', `${PROJECT}/publications`);
  await ask('DELETE', `${PROJECT}/environments/extra/publication`);
}

async function useFlags(): Promise<void> {
  const details = { description: 'd', tags: ['t'], owner: 'o', permanent: true, valueKind: 'text' };
  const states = { production: { enabled: true, value: 'x', rolloutPct: 12.5 } };
  await ask('POST', `${PROJECT}/flags`, { key: 'a', ...details, states });
  await ask('POST', `${PROJECT}/flags`, { key: 'b' });
  await ask('PATCH', `${PROJECT}/flags/a`, { description: 'other' });
  await ask('GET', `${PROJECT}/flags`);
  await ask('GET', `${PROJECT}/flags/a`);
  await ask('PUT', `${PRODUCTION}/flags/b`, { enabled: true, value: { deep: [null] } });
  await ask('PATCH', `${PRODUCTION}/flags/b`, { unset: ['value'], rolloutPct: 5 });
  await ask('GET', `${PRODUCTION}/flags/b`);
  await ask('GET', `${PRODUCTION}/flags`);
  await ask('POST', `${PRODUCTION}/changes`, {
    changes: [{ key: 'c', state: { enabled: true } }],
    note: 'n',
  });
  await ask('GET', `${PROJECT}/compare?from=production&to=staging`);
  await ask('POST', `${PROJECT}/environments/staging/copy`, { from: 'production', keys: ['a'] });
  await ask('POST', `${PROJECT}/flags/c/archive`);
  await ask('POST', `${PROJECT}/flags/c/restore`);
  await ask('DELETE', `${PRODUCTION}/flags/c`);
  await ask('POST', `${PROJECT}/flags/archive`, { keys: ['c'] });
  await ask('DELETE', `${PROJECT}/flags/c`);
  await ask('GET', '/api/search?q=a');
  await ask('GET', '/api/overview');
}

async function useHistory(): Promise<void> {
  const { seq } = await ask('POST', `${PRODUCTION}/changes`, { changes: [{ key: 'b', state: null }] });
  await ask('GET', '/api/audit?project=shop');
  await ask('GET', `/api/changes/${seq}`);
  await ask('GET', `/api/changes?reference=${crypto.randomUUID()}`);
  await ask('POST', `/api/changes/close?reference=${crypto.randomUUID()}`);
  await ask('POST', `/api/changes/${seq}/revert`, { force: true });
  const document = await ask('GET', `${PROJECT}/export`);
  await ask('GET', `${PROJECT}/environments/production/flagd`);
  await ask('POST', '/api/diff', document);
  await ask('POST', '/api/import', { ...document, project: 'copy' });
  const dueAt = new Date(Date.now() + 3_600_000).toISOString();
  const later = [{ key: 'b', patch: { enabled: false } }];
  const schedule = { environment: 'production', dueAt, changes: later, note: 'n' };
  const { id } = await ask('POST', `${PROJECT}/schedules`, schedule);
  await ask('GET', `${PROJECT}/schedules`);
  await ask('DELETE', `${PROJECT}/schedules/${id}`);
  await ask('GET', `${PROJECT}/environments/production/stream`);
  await ask('GET', '/api/events');
}

async function useRollouts(): Promise<void> {
  // The first step begins at once.
  const steps = [
    { rolloutPct: 20 },
    { rolloutPct: 50, waitMinutes: 60 },
    { rolloutPct: 100, at: new Date(Date.now() + 86_400_000).toISOString() },
  ];
  const plan = { flag: 'b', environment: 'production', steps, note: 'n' };
  const { id } = await ask('POST', `${PROJECT}/rollouts`, plan);
  const path = `${PROJECT}/rollouts/${id}`;
  await ask('GET', `${PROJECT}/rollouts`);
  await ask('GET', path);
  for (const step of ['advance', 'pause', 'resume', 'stop']) await ask('POST', `${path}/${step}`);
}

async function useWebhooks(): Promise<void> {
  const path = `${PROJECT}/webhooks/hook`;
  const webhook = { name: 'hook', url: `${receiver.url('hook')}?secret=1`, environments: ['production'] };
  await ask('POST', `${PROJECT}/webhooks`, webhook);
  await ask('PATCH', path, { events: ['flag'], status: 'active' });
  const { seq } = await ask('PATCH', `${PRODUCTION}/flags/a`, { rolloutPct: 99 });
  await until('the message arrives', () => receiver.messages('hook').length > 0);
  await ask('POST', `${path}/test`);
  await ask('POST', `${path}/replay`, { seq });
  await ask('POST', `${path}/rotate`, { overlapHours: 1 });
  await ask('GET', `${path}/deliveries`);
  await ask('GET', path);
  await ask('GET', `${PROJECT}/webhooks`);
  await until('the change is delivered', async () => (await ask('GET', path)).deliveredSeq >= seq);
  await ask('PATCH', path, { status: 'paused' });
  const { seq: waiting } = await ask('PATCH', `${PRODUCTION}/flags/a`, { rolloutPct: 97 });
  await ask('POST', `${path}/skip`, { seq: waiting });
  await ask('DELETE', path);

  const siem = '/api/webhooks/siem';
  const { seq: made } = await ask('POST', '/api/webhooks', { name: 'siem', url: receiver.url('siem') });
  await until('the creation is delivered', async () => (await ask('GET', siem)).deliveredSeq >= made);
  const { seq: paused } = await ask('PATCH', siem, { status: 'paused' });
  await ask('POST', `${siem}/skip`, { seq: paused });
  const { next } = await ask('GET', '/api/audit/follow');
  await ask('GET', `/api/audit/follow?after=${made}&project=shop&limit=2&wait=true`);
  await ask('GET', `/api/audit/follow?after=${next}`);
  await ask('GET', '/api/audit/verification');
  await ask('POST', `${siem}/test`);
  await ask('POST', `${siem}/replay`, { seq: made });
  await ask('POST', `${siem}/rotate`, {});
  for (const read of [siem, `${siem}/deliveries`, '/api/webhooks']) await ask('GET', read);
  await ask('DELETE', siem);
}

async function readFlags(): Promise<void> {
  const { key, id } = await ask('POST', `${PROJECT}/keys`, { name: 'k', environments: ['production'] });
  const read = (method: string, target: string, body?: unknown) =>
    send(method, target, { body, headers: { 'X-Service-Key': key } });
  await read('GET', '/v1/flags?env=production');
  await read('GET', '/v1/flags/a?env=production');
  await read('GET', '/v1/flags/b?env=production');
  await read('POST', '/v1/flags/batch', { env: 'production', keys: ['a', 'b', 'none'] });
  await read('GET', '/v1/stream?env=production');
  await read('GET', '/flagd/v1/flags.json?env=production');
  await read('POST', '/usage/v1', { env: 'production', flags: { a: { on: 3 } } });
  const context = { targetingKey: 'ada', plan: 'gold' };
  for (const place of ['', '/environments/production']) {
    await read('POST', `${place}/ofrep/v1/evaluate/flags/a`, { context });
    const { eventStreams } = await read('POST', `${place}/ofrep/v1/evaluate/flags`, { context });
    await send('GET', eventStreams[0].endpoint.requestUri, {});
    await read('GET', `${place}/openfeature/v0/manifest`);
  }
  await readReceipt(key);
  await ask('GET', `${PROJECT}/usage`);
  await ask('GET', `${PROJECT}/flags/a/usage`);
  await ask('GET', `${PROJECT}/usage/hours?keys=a,b`);
  await ask('GET', `${PROJECT}/keys`);
  await ask('GET', `/api/keys/${id}`);
  await ask('POST', `/api/keys/${id}/replace`, { endsAt: '2100-01-01T00:00:00Z' });
  await ask('DELETE', `/api/keys/${id}`);
}

async function useCodeReferences(): Promise<void> {
  const link = 'https://code.example/acme/shop/{commit}/{path}#L{line}';
  const flags = [{ key: 'a', places: 2, files: 1, first: [{ path: 'src/main.ts', line: 7 }] }];
  const path = `${PROJECT}/code-references`;
  await ask('PUT', path, { repository: 'acme/shop', commit: 'abc1234', link, flags });
  await ask('GET', path);
  await ask('GET', `${PROJECT}/flags/a/code-references`);
  await ask('DELETE', `${path}?repository=acme%2Fshop`);
}

async function readReceipt(key: string): Promise<void> {
  const stream = await openSse(`${node.url}/v1/stream?env=production`, { headers: { 'X-Service-Key': key } });
  const { seq } = await ask('PATCH', `${PRODUCTION}/flags/a`, { rolloutPct: 98 });
  const path = `/api/changes/${seq}/delivery`;
  const headers = { Authorization: `Bearer ${node.adminToken}` };
  await until('the receipt is kept', async () => (await fetch(node.url + path, { headers })).ok);
  await ask('GET', path);
  await ask('GET', `${PROJECT}/deliveries?limit=5`);
  await ask('GET', `${PROJECT}/clients`);
  stream.close();
}

async function useTokens(): Promise<void> {
  const projects = [{ project: 'shop', role: 'editor' }];
  const token = await ask('POST', '/api/tokens', { name: 't', role: 'viewer', projects, only: 'plan' });
  await send('GET', '/api/whoami', { headers: { Authorization: `Bearer ${token.token}` } });
  await ask('GET', '/api/whoami');
  await ask('GET', '/api/tokens');
  await ask('DELETE', `/api/tokens/${token.id}`);
  const scope = { projects: ['shop'], environments: ['production'] };
  const relay = await ask('POST', '/api/relay-tokens', { name: 'r', ...scope });
  await ask('GET', '/api/relay-tokens');
  await ask('DELETE', `/api/relay-tokens/${relay.id}`);
}

async function usePeople(): Promise<void> {
  await send('GET', '/api/session', {});
  const [, setUp] = SET_UP_LINK.exec(node.logs()) ?? [];
  const password = 'correct horse battery';
  const ada = { email: 'ada@example.com', name: 'Ada', password };
  await send('POST', '/api/setup', { body: { ...ada, token: setUp } });
  const projects = [
    { project: 'shop', role: 'editor', canChangeProtected: true },
    { project: 'copy', role: 'viewer' },
  ];
  const invited = await ask('POST', '/api/invitations', { email: 'bob@localhost', projects });
  await send('POST', '/api/invitations/inspect', { body: { token: invited.token } });
  const bob = { token: invited.token, name: 'Bob', password };
  const { operator } = await send('POST', '/api/invitations/accept', { body: bob });
  const path = `/api/operators/${operator.id}`;
  await ask('PATCH', path, { role: 'viewer', projects: [{ project: 'shop', role: 'admin' }] });
  const reset = await ask('POST', `${path}/reset`);
  await ask('GET', '/api/invitations');
  await ask('DELETE', `/api/invitations/${reset.id}`);
  await ask('GET', '/api/operators');
  await useProposals(await signIn(ada.email, password));
  await ask('GET', `${path}/holdings`);
  await ask('DELETE', path);

  const headers = await signIn(ada.email, password);
  await send('GET', '/api/session', { headers });
  await send('GET', '/api/whoami', { headers });
  const own = '/api/session/tokens';
  const made = await send('POST', own, { headers, body: { name: 'ada-cli', role: 'viewer', only: 'plan' } });
  await send('GET', own, { headers });
  await send('DELETE', `${own}/${made.id}`, { headers });
  const next = 'a longer horse battery';
  await send('POST', '/api/session/password', { headers, body: { current: password, next } });
  await send('POST', '/api/session', { headers, body: { email: ada.email, password: next } });
  await send('DELETE', '/api/session', { headers });
}

/** The headers of a browser in which a person has signed in. */
async function signIn(email: string, password: string): Promise<Readonly<Record<string, string>>> {
  const signedIn = await fetch(`${node.url}/api/session`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ email, password }),
  });
  return { Cookie: signedIn.headers.getSetCookie()[0]?.split(';')[0] ?? '', Origin: node.url };
}

async function useProposals(browser: Readonly<Record<string, string>>): Promise<void> {
  const environment = `${PROJECT}/environments/guarded`;
  const state = `${environment}/flags/a`;
  await ask('POST', `${PROJECT}/environments`, { name: 'guarded', protected: true });
  await ask('PATCH', environment, { approvals: 1 });

  const propose = async (how: string, target: string, body: object): Promise<string> =>
    (await ask('PATCH', `${target}?propose=${how}`, body)).id;
  const decide = (id: string, verb: string) => {
    const headers = { ...browser, 'X-Confirm-Environment': 'guarded' };
    return send('POST', `${PROJECT}/proposals/${id}/${verb}`, { headers });
  };

  await decide(await propose('true', state, { enabled: true }), 'approve');
  const held = await propose('hold', state, { rolloutPct: 5 });
  await decide(held, 'approve');
  await ask('POST', `${PROJECT}/proposals/${held}/apply`);
  await decide(await propose('true', state, { rolloutPct: 6 }), 'reject');
  await ask('POST', `${PROJECT}/proposals/${await propose('true', state, { rolloutPct: 7 })}/withdraw`);

  const headers = { Authorization: `Bearer ${node.adminToken}`, 'X-Change-Note': 'down' };
  await send('PATCH', `${state}?emergency=true`, { body: { enabled: false }, headers });
  const [emergency] = (await ask('GET', `${PROJECT}/proposals?status=waiting`)).proposals;
  await ask('GET', `${PROJECT}/proposals/${emergency.id}`);
  await decide(emergency.id, 'acknowledge');

  await decide(await propose('true', environment, { approvals: 0 }), 'approve');
}

async function removeAll(): Promise<void> {
  await ask('DELETE', `${PROJECT}/environments/extra`);
  await ask('DELETE', PROJECT);
}
