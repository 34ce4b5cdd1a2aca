import { expect, test } from 'bun:test';
import { expectError } from './expectations.ts';
import { conformance } from './subject.ts';
import { World } from './world.ts';

conformance('21. Named values', (subject) => {
  test('S21.1 S21.2 named values keep their text and order, and are of the kind that the flag declares', async () => {
    const world = await World.make(subject(), { limit: { enabled: true, value: 5 } });
    const path = `/api/projects/${world.project}/flags/limit`;
    const list = '[{"name":"low","value":5.0},{"name":"high","value":1e3,"description":"For tests"}]';
    const declared = await world.manage('PATCH', path, `{"valueKind":"number","namedValues":${list}}`);
    expect(declared.status).toBe(200);
    expect(await (await world.manage('GET', path)).text()).toContain(`"namedValues":${list}`);

    for (const body of [
      '{"namedValues":[{"name":"low","value":"5"}]}',
      '{"namedValues":[{"name":"a","value":1},{"name":"a","value":2}]}',
      '{"namedValues":[{"name":"a","value":1},{"name":"b","value":1}]}',
      '{"namedValues":[{"name":"","value":1}]}',
      '{"valueKind":"text"}',
      '{"valueKind":"none"}',
    ])
      await expectError(await world.manage('PATCH', path, body), 'invalid_argument', body);
    expect(await (await world.manage('GET', path)).text()).toContain(`"namedValues":${list}`);
  });

  test('S21.4 a list says which flags declare named values', async () => {
    const world = await World.make(subject(), { banner: { enabled: true }, plain: { enabled: true } });
    const path = `/api/projects/${world.project}/flags`;
    await world.manage('PATCH', `${path}/banner`, { namedValues: [{ name: 'hello', value: 'Hi' }] });
    const listed = await (await world.manage('GET', path)).text();
    expect(listed).not.toContain('"namedValues"');
    expect(listed.match(/"hasNamedValues":true/g)).toHaveLength(1);
    expect(listed.indexOf('"hasNamedValues"')).toBeLessThan(listed.indexOf('"plain"'));

    await world.manage('PATCH', `${path}/banner`, { namedValues: [] });
    expect(await (await world.manage('GET', path)).text()).not.toContain('hasNamedValues');
  });

  test('S21.5 of two people who replace the named values at once, the second is refused', async () => {
    const world = await World.make(subject(), { banner: { enabled: true } });
    const path = `/api/projects/${world.project}/flags/banner`;
    const revisionIn = async (answer: Response) =>
      /"detailsRevision":(\d+)/.exec(await answer.text())?.[1] ?? 'none';
    const replace = (revision: string, name: string) =>
      world.manage('PATCH', path, { namedValues: [{ name, value: 1 }] }, { 'If-Match': `"${revision}"` });

    const read = await revisionIn(await world.manage('GET', path));
    await world.management.putState(world.project, 'production', 'banner', { enabled: false });
    const first = await replace(read, 'mine');
    expect(first.status).toBe(200);
    await expectError(await replace(read, 'theirs'), 'revision_conflict');
    expect(await (await world.manage('GET', path)).text()).toContain('"name":"mine"');
    expect((await replace(await revisionIn(first), 'theirs')).status).toBe(200);
    expect(await (await world.manage('GET', path.replace('/banner', ''))).text()).not.toContain(
      'detailsRevision',
    );
  });

  test('S21.3 named values change nothing that is served, whatever becomes of them', async () => {
    const world = await World.make(subject(), { banner: { enabled: true, value: 'green' } });
    const path = `/api/projects/${world.project}/flags/banner`;
    const served = async () => {
      const answer = await world.fetch('/v1/flags?env=production');
      return [answer.headers.get('X-Flags-Revision'), answer.headers.get('ETag'), await answer.text()];
    };
    const nameOf = async (values: readonly (readonly [name: string, value: string])[]) => {
      const namedValues = values.map(([name, value]) => ({ name, value }));
      const answer = await world.manage('PATCH', path, { namedValues });
      return /"valueName":"([^"]*)"/.exec(await answer.text())?.[1];
    };

    const before = await served();
    expect(
      await nameOf([
        ['control', 'blue'],
        ['treatment', 'green'],
      ]),
    ).toBe('treatment');
    expect(
      await nameOf([
        ['control', 'blue'],
        ['winner', 'green'],
      ]),
    ).toBe('winner');
    expect(
      await nameOf([
        ['control', 'blue'],
        ['winner', 'red'],
      ]),
    ).toBeUndefined();
    expect(await nameOf([])).toBeUndefined();
    expect(await served()).toEqual(before);
  });
});
