import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { openTestApp, type TestApp } from '../../management/api/test-app.ts';
import { ENGINES, type TestEngine } from '../../storage/test-engines.ts';

setDefaultTimeout(60_000);

describe.each(ENGINES)('a revert on $name', (engine: TestEngine) => {
  let app: TestApp;
  beforeAll(async () => {
    app = await openTestApp(engine);
  });
  afterAll(() => app.close());

  const revert = (seq: number) => app.call('POST', `/api/changes/${seq}/revert`, { body: {} });
  const done: TestApp['done'] = (...request) => app.done(...request);

  test('restores the appearance of an environment', async () => {
    const { path } = await app.project();
    const production = `${path}/environments/production`;
    const { seq } = await done('PATCH', production, { body: { protected: false, color: 'pink' } });
    const undone = await revert(seq);
    expect(undone.json.differences).toEqual([
      {
        environment: 'production',
        before: { protected: false, color: 'pink' },
        after: { protected: true, color: 'red' },
      },
    ]);
    await done('PATCH', production, { body: { color: 'teal' } });
    expect((await revert(undone.json.seq)).json.message).toContain('color');
  });

  test('restores what guards an environment', async () => {
    const { path } = await app.project();
    const production = `${path}/environments/production`;
    const guards = { reasonRequired: true, emergencyOff: false };
    const { seq } = await done('PATCH', production, { body: guards });
    const headers = { 'X-Change-Note': 'too strict' };
    expect((await revert(seq)).json.error).toBe('reason_required');
    expect((await done('POST', `/api/changes/${seq}/revert`, { body: {}, headers })).differences).toEqual([
      {
        environment: 'production',
        before: guards,
        after: { reasonRequired: false, emergencyOff: true },
      },
    ]);
    const { environments } = await done('GET', path);
    expect(environments.find(({ name }: { name: string }) => name === 'production')).toMatchObject({
      reasonRequired: false,
      emergencyOff: true,
    });
  });
});
