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
    keys: 'web',
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

  test('a key is replaced once, by one with its settings, and ends after an overlap', async () => {
    const { path } = await app.project();
    const day = 86_400_000;
    const at = (days: number) => new Date(app.node.now + days * day).toISOString();
    const make = async (days?: number) => {
      const body = { name: 'k', environments: ['staging', 'production'], expiresAt: days && at(days) };
      return (await app.call('POST', `${path}/keys`, { body })).json;
    };
    const replace = (id: string, body = {}) => app.call('POST', `/api/keys/${id}/replace`, { body });

    const old = await make();
    const made = await replace(old.id);
    expect([made.status, made.headers.get('Cache-Control')]).toEqual([201, 'no-store']);
    const { key, replaced, seq, ...record } = made.json;
    expect(record).toMatchObject({ name: 'k', environments: ['production', 'staging'], status: 'active' });
    expect([record.expiresAt, key.slice(-4)]).toEqual([undefined, record.lastFour]);
    expect(replaced).toMatchObject({ id: old.id, expiresAt: at(7), replacedBy: record.id, status: 'active' });
    expect((await app.call('GET', `/api/keys/${old.id}`)).json).toEqual(replaced);
    const { entries } = (await app.call('GET', `/api/changes/${seq}`)).json;
    expect(entries.map((entry: { action: string; target: string }) => [entry.action, entry.target])).toEqual([
      ['key.created', record.id],
      ['key.replaced', old.id],
    ]);
    expect(JSON.stringify(entries)).not.toContain(key);

    const again = await replace(old.id);
    expect([again.status, again.json.error]).toEqual([409, 'key_ended']);
    expect(again.json.message).toContain(`"${record.id}" was made in its place`);
    // Whose value was lost, for example: its owner may try again. The end stays as near as it was.
    await app.call('DELETE', `/api/keys/${record.id}`);
    expect((await replace(record.id)).json.message).toContain('it is revoked');
    expect((await replace(old.id, { endsAt: at(30) })).json.replaced.expiresAt).toBe(at(7));

    // Two at once: one key, not two.
    const raced = await make();
    const answers = await Promise.all([replace(raced.id), replace(raced.id), replace(raced.id)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409]);

    // A key that ends lives as long as the one before it, which ends no later than it would have.
    const trial = await make(30);
    app.node.now += 25 * day;
    const next = (await replace(trial.id)).json;
    expect([next.expiresAt, next.replaced.expiresAt]).toEqual([at(30), trial.expiresAt]);
    app.node.now += 5 * day;
    expect((await replace(trial.id)).json.message).toContain('it is expired');

    expect((await replace('none')).json.error).toBe('key_not_found');
    const past = await replace(next.id, { endsAt: at(0) });
    expect([past.status, past.json.message]).toEqual([
      400,
      expect.stringContaining('"endsAt" is not in the'),
    ]);
    for (const name of ['staging', 'production'])
      await app.call('DELETE', `${path}/environments/${name}`, {
        headers: { 'X-Confirm-Environment': name },
      });
    expect((await replace(next.id)).json.message).toContain('were deleted');
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
