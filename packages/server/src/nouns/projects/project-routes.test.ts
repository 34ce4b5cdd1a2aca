import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { openTestApp, type TestApp } from '../../management/api/test-app.ts';
import { ENGINES, type TestEngine } from '../../storage/test-engines.ts';

setDefaultTimeout(60_000);

describe.each(ENGINES)('projects and environments on $name', (engine: TestEngine) => {
  let app: TestApp;
  beforeAll(async () => {
    app = await openTestApp(engine);
  });
  afterAll(() => app.close());

  test('a new project has the three environments, at revision 0', async () => {
    const made = await app.call('POST', '/api/projects', { body: { name: 'shop' } });
    expect(made.status).toBe(201);
    expect(made.json.environments.map((one: { name: string }) => one.name)).toEqual([
      'development',
      'staging',
      'production',
    ]);
    expect(made.json.environments[0].revision).toBe(0);
    expect(new Date(made.json.createdAt).toISOString()).toBe(made.json.createdAt);
    const { seq, ...record } = made.json;
    expect(seq).toBeNumber();
    expect((await app.call('GET', '/api/projects/shop')).json).toEqual(record);
    const listed = await app.call('GET', '/api/projects');
    expect(listed.json.projects).toContainEqual({ name: 'shop', createdAt: made.json.createdAt });
  });

  test.each([
    [{ name: 'Shop' }, 'lower-case'],
    [{ name: '-a' }, 'beginning with'],
    [{ name: '' }, '1 to 64'],
    [{ name: 'a'.repeat(65) }, '1 to 64'],
    [{ name: 1 }, '"name" is not valid: expected string'],
    [{}, '"name" is missing'],
    [[], 'The body is not valid: expected object'],
    [{ name: 'a', color: 'red' }, 'unknown member "color"'],
  ])('the project %j is refused', async (body, sentence) => {
    const { status, json } = await app.call('POST', '/api/projects', { body });
    expect([status, json.error]).toEqual([400, 'invalid_argument']);
    expect(json.message).toContain(sentence);
  });

  test('a name is unique, and free again after deletion', async () => {
    const { name, path } = await app.project();
    expect((await app.call('POST', '/api/projects', { body: { name } })).json.error).toBe('already_exists');
    const twice = await app.call('POST', `${path}/environments`, { body: { name: 'staging' } });
    expect(twice.json.message).toStartWith('The environment "staging" already exists');
    expect((await app.call('DELETE', path)).status).toBe(200);
    expect((await app.call('GET', path)).json.error).toBe('project_not_found');
    expect((await app.call('DELETE', path)).status).toBe(404);
    expect((await app.call('POST', '/api/projects', { body: { name } })).status).toBe(201);
  });

  test('an environment is created with the given appearance, or the default of its name', async () => {
    const { path } = await app.project();
    const appearance = { protected: true, color: 'violet' };
    const made = await app.call('POST', `${path}/environments`, { body: { name: 'live', ...appearance } });
    expect([made.status, made.json]).toMatchObject([201, { name: 'live', ...appearance }]);
    const plain = await app.call('POST', `${path}/environments`, { body: { name: 'preview' } });
    expect(plain.json).toMatchObject({ protected: false, color: 'gray' });
    const odd = await app.call('POST', `${path}/environments`, { body: { name: 'odd', color: 'beige' } });
    expect([odd.status, odd.json.error]).toEqual([400, 'invalid_argument']);
  });

  test('a recreated environment is empty and keeps its count', async () => {
    const { path } = await app.project();
    await app.call('PUT', `${path}/environments/staging/flags/a`, { body: { enabled: true } });
    expect((await app.call('DELETE', `${path}/environments/staging`)).status).toBe(200);
    expect((await app.call('GET', `${path}/environments/staging/flags`)).json.error).toBe(
      'environment_not_found',
    );
    const made = await app.call('POST', `${path}/environments`, { body: { name: 'staging' } });
    expect([made.status, made.json.name]).toEqual([201, 'staging']);
    expect(made.json.revision).toBeGreaterThan(1);
    expect((await app.call('GET', `${path}/environments/staging/flags`)).json.flags).toEqual([]);
    const again = await app.call('POST', `${path}/environments`, { body: { name: 'staging' } });
    expect([again.status, again.json.error]).toEqual([409, 'already_exists']);
  });
});
