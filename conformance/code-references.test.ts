import { expect, test } from 'bun:test';
import { expectError } from './expectations.ts';
import { conformance } from './subject.ts';
import { World } from './world.ts';

conformance('27. Reports about code', (subject) => {
  test('S27.1 S27.2 a report replaces that of its repository as a whole, is no change, and says only what was looked for', async () => {
    const world = await World.make(subject(), {
      a: { enabled: true },
      b: { enabled: true },
      c: { enabled: true },
    });
    const project = `/api/projects/${world.project}`;
    const path = `${project}/code-references`;
    const stream = await world.stream();
    await stream.nextFrame();
    const audit = async () => (await world.manage('GET', `/api/audit?project=${world.project}`)).json();
    const before = await audit();

    const first = [{ path: 'src/a.ts', line: 3 }];
    const found = { key: 'a', places: 2, files: 1, first };
    const absent = { key: 'b', places: 0, files: 0 };
    const put = (repository: string, flags: readonly object[], commit = 'abc1234') =>
      world.manage('PUT', path, { repository, commit, flags });
    for (const repository of ['web', 'api'])
      expect((await put(repository, [found, absent])).status).toBe(204);
    expect((await put('web', [absent], 'def5678')).status).toBe(204);
    await expectError(await put('web', [found, { ...absent, files: 1 }]), 'invalid_argument');

    const counts = { a: { places: 2, files: 1 }, b: { places: 0, files: 0 } };
    expect(await (await world.manage('GET', path)).json()).toMatchObject({
      repositories: [
        { repository: 'api', commit: 'abc1234', reportedAt: expect.any(String), flags: counts },
        { repository: 'web', commit: 'def5678', flags: { b: counts.b } },
      ],
    });
    const inCode = async (key: string) =>
      (await world.manage('GET', `${project}/flags/${key}/code-references`)).json();
    expect(await inCode('a')).toMatchObject({
      repositories: [{ repository: 'api', places: 2, files: 1, first }],
    });
    expect(await inCode('b')).toMatchObject({
      repositories: [{ places: 0 }, { commit: 'def5678', places: 0 }],
    });
    expect(await inCode('c')).toEqual({ repositories: [] });

    expect((await world.manage('DELETE', `${path}?repository=api`)).status).toBe(204);
    await expectError(await world.manage('DELETE', `${path}?repository=api`), 'not_found');
    expect(await inCode('a')).toEqual({ repositories: [] });
    expect(await audit()).toEqual(before);

    // The next frame is that of the next change.
    await world.put('c', { enabled: false });
    expect(JSON.parse((await stream.nextFrame()).data)).toMatchObject({ c: { enabled: false } });
    stream.close();
  });
});
