import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { join } from 'node:path';
import {
  type NodeProcess,
  type StartNodeOptions,
  sharedPostgres,
  startNode,
  startTcpProxy,
  until,
} from '@halyard/testing';

setDefaultTimeout(120_000);

const PASSWORD = 'correct horse battery';
const EMAIL = 'ada@example.com';

let databaseUrl: string;
let nodes: readonly NodeProcess[];

beforeAll(async () => {
  databaseUrl = await (await sharedPostgres()).createDatabase();
  // The second one has a token of its own.
  nodes = await Promise.all([
    start({ databaseUrl }),
    start({ databaseUrl, env: { HALYARD_ADMIN_TOKEN: '' } }),
  ]);
});
afterAll(() => Promise.all(nodes.map((node) => node.stop())));

/** Starts a node for people and waits until it has said all that it says at the start; it takes requests earlier. */
async function start(options: StartNodeOptions): Promise<NodeProcess> {
  const node = await startNode({ ...options, env: { ...options.env, HALYARD_LOG_FORMAT: 'pretty' } });
  await until('the node says how to stop it', () => node.logs().includes('Press Ctrl+C to stop'));
  return node;
}

function nodeAt(index: number): NodeProcess {
  const node = nodes[index];
  if (node === undefined) throw new Error(`there is no node ${index}`);
  return node;
}

/** Asks a node as a page of its own would, with the cookie if there is one. */
function ask(
  node: NodeProcess,
  method: string,
  path: string,
  options: { body?: object; cookie?: string } = {},
) {
  const { body, cookie } = options;
  return fetch(`${node.url}${path}`, {
    method,
    headers: {
      Origin: node.url,
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...(cookie === undefined ? {} : { Cookie: cookie }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

function setupTokens(node: NodeProcess): readonly string[] {
  return [...node.logs().matchAll(/\/setup#(hin_\w{43})\n/g)].map(([, token = '']) => token);
}

function signIn(node: NodeProcess, password = PASSWORD) {
  return ask(node, 'POST', '/api/session', { body: { email: EMAIL, password } });
}

test('a node on PostgreSQL says that the token in its folder is valid at that node only', async () => {
  const [shared, own] = [nodeAt(0), nodeAt(1)];
  const message = 'is valid at this node only: set HALYARD_ADMIN_TOKEN_FILE';
  expect([shared.logs().includes(message), own.logs().includes(message)]).toEqual([false, true]);
  const token = (await Bun.file(join(own.dataFolder, 'admin-token')).text()).trim();
  const headers = { Authorization: `Bearer ${token}` };
  const statuses = [own, shared].map(
    async ({ url }) => (await fetch(`${url}/api/whoami`, { headers })).status,
  );
  expect(await Promise.all(statuses)).toEqual([200, 401]);
});

test('each of two nodes prints a link; one makes the first administrator, and both links end', async () => {
  const tokens = nodes.map((node) => setupTokens(node));
  expect(tokens.map((some) => some.length)).toEqual([1, 1]);
  const setUp = (node: NodeProcess, token: string | undefined) =>
    ask(node, 'POST', '/api/setup', { body: { token, email: EMAIL, name: 'Ada', password: PASSWORD } });
  // At once, at either node, with either link: only one can be the first.
  const answers = await Promise.all([setUp(nodeAt(1), tokens[0]?.[0]), setUp(nodeAt(0), tokens[1]?.[0])]);
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 410]);
  const later = await start({ databaseUrl });
  expect(setupTokens(later)).toEqual([]);
  expect(await (await ask(later, 'GET', '/api/session')).json()).toEqual({
    signedIn: false,
    setupNeeded: false,
  });
  await later.stop();
});

test('a session begins and ends on every node', async () => {
  const cookie = (await signIn(nodeAt(0))).headers.getSetCookie()[0]?.split(';')[0] ?? '';
  expect(cookie).toStartWith('halyard_session=hss_');
  const body = { name: 'shop' };
  expect((await ask(nodeAt(1), 'POST', '/api/projects', { body, cookie })).status).toBe(201);
  expect((await ask(nodeAt(0), 'DELETE', '/api/session', { cookie })).status).toBe(200);
  const after = await ask(nodeAt(1), 'GET', '/api/whoami', { cookie });
  expect([after.status, await after.json()]).toMatchObject([401, { error: 'not_signed_in' }]);
});

test('50 sign-ins at once are bounded on every node, and flags can be read throughout', async () => {
  const node = nodeAt(0);
  const headers = { Authorization: `Bearer ${node.adminToken}` };
  const made = await fetch(`${node.url}/api/projects/shop/keys`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ name: 'reader', environments: ['development'] }),
  });
  // The answer to a key that was just made.
  const { key } = (await made.json()) as { readonly key: string };
  let open = true;
  const signIns = Promise.all(
    Array.from({ length: 50 }, (_, index) => signIn(nodeAt(index % 2), 'a wrong password')),
  ).finally(() => {
    open = false;
  });
  do {
    const read = await fetch(`${node.url}/v1/flags?env=development`, { headers: { 'X-Service-Key': key } });
    expect(read.status).toBe(200);
    await read.arrayBuffer();
  } while (open);
  const statuses = (await signIns).map(({ status }) => status);
  expect(statuses.filter((status) => status === 401)).toHaveLength(5);
  expect(statuses.filter((status) => status === 429)).toHaveLength(45);
  // Every node knows that the account is locked, and so is this address.
  for (const one of nodes) expect((await signIn(one)).status).toBe(429);
});

test('nodes write no secret, except the link that is printed for a person', () => {
  for (const node of nodes) {
    const text = node.logs();
    for (const secret of [PASSWORD, 'a wrong password', 'hss_', '$argon2id', EMAIL])
      expect(text).not.toContain(secret);
    expect(text.match(/hin_/g)).toHaveLength(1);
  }
});

test('the settings can create the first administrator instead, once', async () => {
  const url = await (await sharedPostgres()).createDatabase();
  const env = { HALYARD_ADMIN_EMAIL: 'Ada@Example.com', HALYARD_ADMIN_PASSWORD: PASSWORD };
  const first = await start({ databaseUrl: url, env });
  expect(setupTokens(first)).toEqual([]);
  expect((await signIn(first)).status).toBe(200);
  await first.stop();
  const again = { ...env, HALYARD_ADMIN_PASSWORD: 'another long password' };
  const second = await start({ databaseUrl: url, env: again });
  expect((await signIn(second, again.HALYARD_ADMIN_PASSWORD)).status).toBe(401);
  expect((await signIn(second)).status).toBe(200);
  for (const node of [first, second]) expect(node.logs()).not.toContain('password');
  await second.stop();
});

test('prints the link also when the database becomes available after the node', async () => {
  const address = new URL(await (await sharedPostgres()).createDatabase());
  const proxy = await startTcpProxy({ port: Number(address.port) });
  proxy.refuse();
  address.port = String(proxy.port);
  const node = await start({ databaseUrl: address.href, until: 'listening' });
  expect(setupTokens(node)).toEqual([]);
  proxy.restore();
  await node.readiness(200);
  await until('the node prints a link', () => setupTokens(node).length > 0);
  const [token] = setupTokens(node);
  expect((await ask(node, 'POST', '/api/invitations/inspect', { body: { token } })).status).toBe(200);
  await node.stop();
  await proxy.close();
});

test('serves the dashboard on the management port, with the address for reads', async () => {
  const node = await start({ env: { HALYARD_MANAGEMENT_PORT: '0' } });
  const managementUrl = /managementUrl=(\S+)/.exec(node.logs())?.[1] ?? '';
  const management = { ...node, url: managementUrl };
  const [token] = setupTokens(node);
  expect(node.logs()).toContain(`${managementUrl}/setup#${token}`);
  const body = { token, email: EMAIL, name: 'Ada', password: PASSWORD };
  const answer = await ask(management, 'POST', '/api/setup', { body });
  expect(await answer.json()).toMatchObject({ signedIn: true, evaluationUrl: node.url });
  expect((await ask(management, 'GET', '/')).headers.get('Content-Type')).toStartWith('text/html');
  for (const path of ['/', '/sign-in', '/api/session']) {
    expect(await (await ask(node, 'GET', path)).json()).toMatchObject({ error: 'not_found' });
  }
  await node.stop();
});
