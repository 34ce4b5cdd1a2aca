import { expect, test } from 'bun:test';
import { expectError } from './expectations.ts';
import { conformance } from './subject.ts';
import { World } from './world.ts';

conformance('25. Projects as documents', (subject) => {
  test('S25.4 an import with the plan of a dry run does exactly that, or nothing', async () => {
    const world = await World.make(subject(), { banner: { enabled: false }, other: { enabled: true } });
    const document = {
      halyard: 1,
      project: world.project,
      environments: ['production'],
      flags: { banner: { environments: { production: { enabled: true } } } },
    };
    const send = (query: string) => world.manage('POST', `/api/import?policy=enforce&${query}`, document);
    const planOf = async () => /"plan":"([^"]+)"/.exec(await (await send('dryRun=true')).text())?.[1] ?? '';
    const isOn = async () => {
      const { flags } = await world.management.states(world.project, 'production');
      return flags.find(({ key }) => key === 'banner')?.state.enabled;
    };

    const outdated = await planOf();
    await world.management.putState(world.project, 'production', 'banner', { enabled: false, value: 1 });
    await expectError(await send(`plan=${outdated}`), 'revision_conflict');
    expect(await isOn()).toBe(false);

    const plan = await planOf();
    // The document leaves it alone.
    await world.management.putState(world.project, 'production', 'other', { enabled: false });
    expect((await send(`plan=${plan}`)).status).toBe(200);
    expect(await isOn()).toBe(true);
  });
});
