import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { openTestApp, type TestApp } from '../../management/api/test-app.ts';
import { ENGINES, type TestEngine } from '../../storage/test-engines.ts';

setDefaultTimeout(60_000);

/** The query that an operation of the document insists on. */
function requiredQuery(operation: unknown): string {
  const values: Readonly<Record<string, string>> = {
    q: 'web',
    from: 'staging',
    to: 'production',
    reference: 'a-request',
  };
  // The document is our own; its other test checks its shape.
  const { parameters = [] } = operation as {
    readonly parameters?: readonly {
      readonly in: string;
      readonly name: string;
      readonly required?: boolean;
    }[];
  };
  const needed = parameters.filter((one) => one.in === 'query' && one.required === true);
  if (needed.length === 0) return '';
  return `?${new URLSearchParams(Object.fromEntries(needed.map(({ name }) => [name, values[name] ?? ''])))}`;
}

describe.each(ENGINES)('keys on $name', (engine: TestEngine) => {
  let app: TestApp;
  beforeAll(async () => {
    app = await openTestApp(engine);
  });
  afterAll(() => app.close());

  test('a key is shown once: no other answer contains it or its digest', async () => {
    const { name, path } = await app.project();
    const body = { name: 'web', environments: ['staging', 'production', 'staging'] };
    const made = await app.call('POST', `${path}/keys`, { body });
    expect([made.status, made.headers.get('Cache-Control')]).toEqual([201, 'no-store']);
    const { key, ...record } = made.json;
    expect(key).toMatch(/^proj_live_[0-9A-Za-z]{49}$/);
    expect(record).toMatchObject({
      name: 'web',
      environments: ['production', 'staging'],
      status: 'active',
    });
    expect(record.lastFour).toBe(key.slice(-4));
    const token = (await app.call('POST', '/api/tokens', { body: { name: `of ${name}` } })).json.token;
    await app.call('DELETE', `/api/keys/${record.id}`);
    const secrets = [key, token, Bun.SHA256.hash(key, 'hex'), Bun.SHA256.hash(token, 'hex')];
    const { paths } = (await app.call('GET', '/api/openapi.json')).json;
    const values = { project: name, environment: 'production', id: record.id, key: 'x', seq: '1' };
    for (const [template, operations] of Object.entries<object>(paths)) {
      if (!('get' in operations) || !template.startsWith('/api')) continue;
      // `keyof`: any other parameter makes the path wrong, and the expectation below fails.
      const filled = template.replaceAll(/\{(\w+)\}/g, (_, part) => values[part as keyof typeof values]);
      const answer = await app.call('GET', filled + requiredQuery(operations.get));
      expect([filled, [200, 404].includes(answer.status)]).toEqual([filled, true]);
      for (const secret of secrets) expect(answer.text).not.toContain(secret);
    }
    for (const secret of secrets) expect(app.logged.join()).not.toContain(secret);
    const stored = JSON.stringify(await app.home.database.query('SELECT * FROM project_keys, audit_log'));
    expect(stored).not.toContain(key);
  });

  test('revoking is permanent and can be repeated', async () => {
    const { path } = await app.project();
    const { json } = await app.call('POST', `${path}/keys`, {
      body: { name: 'k', environments: ['staging'] },
    });
    const first = await app.call('DELETE', `/api/keys/${json.id}`);
    expect([first.status, first.json.status]).toEqual([200, 'revoked']);
    app.node.now += 5000;
    const { seq, ...record } = first.json;
    expect(seq).toBeNumber();
    expect((await app.call('DELETE', `/api/keys/${json.id}`)).json).toEqual(record);
    expect((await app.call('GET', `/api/keys/${json.id}`)).json).toEqual(record);
    expect((await app.call('GET', '/api/keys/none')).json.error).toBe('key_not_found');
    expect((await app.call('DELETE', '/api/keys/none')).json.error).toBe('key_not_found');
  });

  test('an expired key is marked as expired', async () => {
    const { path } = await app.project();
    const expiresAt = new Date(app.node.now + 1000).toISOString();
    const body = { name: 'k', environments: ['staging'], expiresAt };
    const made = await app.call('POST', `${path}/keys`, { body });
    expect(made.json).toMatchObject({ status: 'active', expiresAt });
    app.node.now += 1000;
    expect((await app.call('GET', `${path}/keys`)).json.keys[0].status).toBe('expired');
  });

  test.each([
    [{ name: '', environments: ['staging'] }, 400, '"name" must be'],
    [{ name: 'a\nb', environments: ['staging'] }, 400, '"name" must be'],
    [{ name: 'k', environments: [] }, 400, 'at least one environment'],
    [{ name: 'k' }, 400, '"environments" is missing'],
    [{ name: 'k', environments: ['moon'] }, 404, 'no environment "moon"'],
    [{ name: 'k', environments: ['staging'], expiresAt: '2001-01-01T00:00:00Z' }, 400, 'not in the future'],
    [{ name: 'k', environments: ['staging'], expiresAt: 'tomorrow' }, 400, 'ISO 8601'],
    [{ name: 'k', environments: ['staging'], expiresAt: 2e12 }, 400, 'ISO 8601'],
  ])('the key %j is refused', async (body, status, sentence) => {
    const { path } = await app.project();
    const answer = await app.call('POST', `${path}/keys`, { body });
    expect(answer.status).toBe(status);
    expect(answer.json.message).toContain(sentence);
    expect((await app.call('GET', `${path}/keys`)).json.keys).toEqual([]);
  });
});
