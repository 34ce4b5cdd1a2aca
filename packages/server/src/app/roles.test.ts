import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { ROLES, type Role } from '@halyard/protocol';
import { openTestApp, type TestApp } from '../management/api/test-app.ts';
import { join } from '../management/api/test-browser.ts';
import { changeEvent } from '../nouns/deliveries/dashboard-events.ts';
import { ENGINES } from '../storage/test-engines.ts';

setDefaultTimeout(60_000);

interface Described {
  readonly method: string;
  readonly path: string;
  readonly id: string;
  readonly role: Role | 'anyone' | undefined;
  readonly description: string;
  readonly refusals: string;
}

/** Writes that need no more than to be signed in: they change nothing of others. */
const OWN_AFFAIRS = [
  ...['findOwnChanges', 'closeOwnReference', 'changePassword', 'whoAmI'],
  ...['listOwnTokens', 'createOwnToken', 'revokeOwnToken'],
];

/** Compares or imports a document, with the rights that each of its changes needs. */
const DOCUMENTS = ['diffProject', 'importProject'];

/** Reads about people, credentials and webhooks, which are for administrators. */
const ADMIN_READS = [
  ...['listAccessTokens', 'listInvitations', 'listRelayTokens', 'getHoldings'],
  ...['listWebhooks', 'getWebhook', 'listWebhookDeliveries'],
  ...['listInstallationWebhooks', 'getInstallationWebhook', 'listInstallationWebhookDeliveries'],
];

let app: TestApp;
let operations: readonly Described[];
const tokens = new Map<Role, string>();

beforeAll(async () => {
  const [engine] = ENGINES;
  if (engine === undefined) throw new Error('the tests have no engine');
  app = await openTestApp(engine);
  for (const role of ROLES) {
    // Not the role alone: "admin" is the name of the settings' token.
    const { status, json } = await app.call('POST', '/api/tokens', {
      body: { name: `role-${role}`, role, canChangeProtected: false },
    });
    expect(status).toBe(201);
    tokens.set(role, json.token);
  }
  operations = (await app.operations()).map(({ method, path, described }) => ({
    method,
    path,
    id: described.operationId,
    role: described['x-role'],
    description: described.description ?? '',
    refusals: JSON.stringify(described.responses),
  }));
});
afterAll(() => app.close());

/** The status of an operation on things that do not exist, with an empty body. */
async function statusOf({ method, path }: Described, token: string | undefined): Promise<number> {
  const answer = await app.request(path.replaceAll(/\{\w+\}/g, 'nowhere'), {
    method,
    headers: { Authorization: `Bearer ${token}` },
    ...(method === 'GET' || method === 'DELETE' ? {} : { body: '{}' }),
  });
  // Streams never end.
  await answer.body?.cancel();
  return answer.status;
}

test('only public operations work without credentials', async () => {
  for (const operation of operations) {
    const status = await statusOf(operation, 'hat_nobody');
    expect([operation.id, status === 401]).toEqual([operation.id, operation.role !== 'anyone']);
  }
});

test('reads require a viewer, writes at least an editor', () => {
  for (const { id, method, role } of operations) {
    if (role === 'anyone' || [...OWN_AFFAIRS, ...DOCUMENTS].includes(id)) continue;
    expect([id, role === 'viewer']).toEqual([id, method === 'GET' && !ADMIN_READS.includes(id)]);
  }
});

test('operations of administrators reject everyone else', () => {
  const noun =
    /^\/api\/(tokens|relay-tokens|operators|invitations|keys)(\/|$)|^\/api\/projects(\/\{project\}(\/keys|\/environments(\/\{environment\})?)?)?$/;
  for (const { id, method, path, role } of operations) {
    if (method === 'GET' || role === 'anyone' || !noun.test(path)) continue;
    expect([id, role]).toEqual([id, 'admin']);
  }
  expect(operations.find(({ id }) => id === 'deleteFlag')?.role).toBe('admin');
});

test('the description names the required role and the refusal of others', () => {
  for (const { id, role, description, refusals } of operations) {
    const says = OWN_AFFAIRS.includes(id)
      ? 'no role'
      : role === 'anyone'
        ? 'No authentication required'
        : `\`${role}\``;
    expect([id, description]).toEqual([id, expect.stringContaining(says)]);
    if (role === 'editor' || role === 'admin') expect(refusals).toContain('forbidden');
  }
});

describe('what each role can read about other people', () => {
  /** The answer to each role, as text. */
  async function answers(path: string): Promise<ReadonlyMap<Role, string>> {
    const texts = new Map<Role, string>();
    for (const role of ROLES) {
      const headers = { Authorization: `Bearer ${tokens.get(role)}` };
      const answer = await app.request(path, { headers });
      texts.set(role, await answer.text());
    }
    return texts;
  }

  const ADDRESS = '198.51.100.77';
  let seqs: { readonly own: number; readonly shared: number };

  beforeAll(async () => {
    const { id } = await join(app, { email: 'mia@example.com', role: 'viewer' });
    await app.call('POST', '/api/invitations', { body: { email: 'soon@example.com', role: 'viewer' } });
    const headers = { 'X-Forwarded-For': ADDRESS };
    const project = await app.call('POST', '/api/projects', { body: { name: 'seen' }, headers });
    const change = await app.call('PATCH', `/api/operators/${id}`, { body: { name: 'Mia' }, headers });
    seqs = { own: change.json.seq, shared: project.json.seq };
  });

  // The path, what only administrators find there, and what every role finds.
  test.each([
    ['/api/audit', [ADDRESS, 'operator.joined', 'token.created', 'session.started', 'soon@'], ['"seen"']],
    ['/api/audit?format=ndjson', [ADDRESS, 'operator.', 'token.created', 'soon@'], ['"seen"']],
    ['/api/audit/follow?after=0', [ADDRESS, 'operator.joined', 'token.created', 'soon@'], ['"seen"']],
    ['/api/audit?action=session', ['session.started'], ['entries']],
    ['/api/audit?target=mia@example.com', ['operator.joined'], ['entries']],
    ['/api/tokens', ['role-viewer', '"createdAt"'], []],
    ['/api/invitations', ['soon@example.com'], []],
    ['/api/operators', ['lastSeenAt'], ['mia@example.com', 'Mia']],
  ] as const)('%s', async (path, secrets, shared) => {
    for (const [role, text] of await answers(path)) {
      for (const secret of secrets) {
        expect([role, secret, text.includes(secret)]).toEqual([role, secret, role === 'admin']);
      }
      for (const word of shared) expect([role, word, text.includes(word)]).toEqual([role, word, true]);
    }
  });

  test('a single change', async () => {
    for (const [role, text] of await answers(`/api/changes/${seqs.own}`)) {
      expect([role, text.includes('not_found')]).toEqual([role, role !== 'admin']);
    }
    for (const [role, text] of await answers(`/api/changes/${seqs.shared}`)) {
      expect([role, text.includes('seen'), text.includes(ADDRESS)]).toEqual([role, true, role === 'admin']);
    }
  });

  test('dashboard events do not name the author of changes about people', () => {
    const row = { seq: 1, changeId: 'c', projectId: '', actor: 'operator:mia@example.com', at: 0 };
    const event = (actions: readonly string[]) =>
      changeEvent({ ...row, kind: 'records.changed', payload: JSON.stringify({ actions }) }, {});
    expect(event(['session.started']).data.actor).toBeUndefined();
    expect(event(['flag.updated']).data.actor).toBe('operator:mia@example.com');
  });
});

describe('who signed in', () => {
  test('has the current permissions of the role, not those at sign-in', async () => {
    const { id, browser } = await join(app, { email: 'eve@example.com', role: 'viewer' });
    const make = () => browser.call('POST', '/api/projects', { body: { name: 'by-eve' } });
    expect((await make()).json.error).toBe('forbidden');
    expect((await browser.call('GET', '/api/whoami')).json).toEqual({
      name: 'eve@example.com',
      role: 'viewer',
      canChangeProtected: false,
    });
    expect((await app.call('PATCH', `/api/operators/${id}`, { body: { role: 'admin' } })).status).toBe(200);
    expect((await make()).json.error).toBe('not_signed_in');
    await browser.signIn('eve@example.com');
    expect((await make()).status).toBe(201);
  });
});
