import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { beforeDeadline, type NodeProcess, startNode, until } from '@halyard/testing';
import { commandsAt } from './test-shell.ts';

setDefaultTimeout(60_000);

let node: NodeProcess;
const { halyard, json, seen } = commandsAt(() => node);

beforeAll(async () => {
  node = await startNode({ env: { HALYARD_DRAIN_SECONDS: '0' } });
  for (const project of ['shop', 'sale', 'copies', 'changes']) await halyard(`project create ${project}`);
});

afterAll(() => node.stop());

describe('flag', () => {
  test('archive and restore change the lists of flags', async () => {
    await halyard('flag set old --project shop --env production --on');
    await halyard('flag set new --project shop --env staging --off');
    expect(await seen('flag list --project shop')).toMatch(
      /^FLAG +DEVELOPMENT +STAGING +PRODUCTION +OWNER +TAGS\nnew +- +off +-\nold +- +- +on\n$/,
    );
    expect(await seen('flag archive old --project shop --note done')).toBe('Archived old of shop.\n');
    expect(await seen('flag list --project shop')).not.toContain('old');
    expect(await seen('flag list --project shop --archived')).toMatch(
      /^FLAG +ARCHIVED +OWNER +DESCRIPTION\nold +\d{4}-/,
    );
    const refused = await halyard('flag set old --project shop --env production --off');
    expect(refused).toMatchObject({ exitCode: 4, out: '' });
    expect(refused.err).toContain('/errors/flag_archived');
    expect(await seen('flag restore old --project shop')).toBe('Restored old of shop in production.\n');
    expect(await halyard('flag list --project shop --env staging --archived')).toMatchObject({ exitCode: 2 });
    expect(await seen('flag list --project shop --archived')).toBe('No archived flags in shop.\n');
  });

  test('delete from an environment called ".." deletes nothing', async () => {
    await halyard('flag set kept --project shop --env production --on');
    await halyard('flag archive kept --project shop');
    expect(await halyard('flag delete kept --project shop --env ..')).toMatchObject({ exitCode: 2, out: '' });
    expect(await seen('flag restore kept --project shop')).toContain('Restored kept');
    await halyard('flag delete kept --project shop --yes');
  });

  test('delete needs --yes, then archives and deletes the flag everywhere', async () => {
    await halyard('flag set doomed --project shop --env production --on');
    const asked = await halyard('flag delete doomed --project shop');
    expect(asked).toMatchObject({ exitCode: 2, out: '' });
    expect(asked.err).toContain('--yes');
    const made = await json('token create --name editing --role editor --no-protected --json');
    const env = { HALYARD_TOKEN: made.token as string };
    const refused = await halyard('flag delete doomed --project shop --yes', { env });
    expect(refused).toMatchObject({ exitCode: 4, out: '' });
    // A refused command has changed nothing.
    expect(await seen('flag list --project shop')).toContain('doomed');
    expect(await seen('flag delete doomed --project shop --yes')).toBe('Deleted doomed from shop.\n');
    const gone = await halyard('flag delete doomed --project shop --yes');
    expect(gone).toMatchObject({ exitCode: 3 });
    const { entries } = await json('audit --project shop --target doomed --limit 2');
    expect(entries.map((one: { action: string }) => one.action)).toContain('flag.deleted');
  });

  test('each delete returns its change, which can be reverted', async () => {
    await halyard('project create passing');
    await halyard('environment create passing preview');
    await halyard('flag set a --project passing --env staging --on');
    for (const line of [
      'flag delete a --project passing --env staging',
      'flag delete a --project passing --yes',
      'environment delete passing preview --yes',
      'project delete passing --yes',
    ]) {
      const { seq } = await json(`${line} --json`);
      const [newest] = (await json('audit --limit 1')).entries;
      expect([line, seq]).toEqual([line, newest.operation]);
    }
  });
});

describe('environment', () => {
  test('update changes protection and appearance', async () => {
    expect(await seen('environment update shop staging --protect --color violet --position 7')).toBe(
      'Updated environment staging of shop: protected, violet.\n',
    );
    expect(await seen('environment list shop')).toMatch(/production +\d+ +yes[\s\S]*\nstaging +\d+ +yes /);
    expect(await seen('environment update shop staging --no-protect')).toContain(': not protected, ');
    for (const wrong of ['', ' --position x']) {
      expect(await halyard(`environment update shop staging${wrong}`)).toMatchObject({ exitCode: 2 });
    }
    expect(await halyard('environment update shop staging --color mauve')).toMatchObject({ exitCode: 2 });
  });
});

describe('schedule', () => {
  beforeAll(async () => {
    for (const key of ['banner', 'timed', 'a']) {
      expect(await halyard(`flag set ${key} --project sale --env development --off`)).toMatchObject({
        exitCode: 0,
      });
    }
  });

  test('create, list and cancel a schedule', async () => {
    expect(
      await seen([
        'schedule',
        'create',
        'banner',
        ...'--project sale --env production --at 12h --on'.split(' '),
      ]),
    ).toMatch(
      /^Scheduled a change of banner in production of sale for \d{4}-\d\d-\d\d \d\d:\d\dZ \(schedule [\w-]+\)\.\n$/,
    );
    const [{ id, changes }] = (await json('schedule list --project sale')).schedules;
    expect(changes).toEqual([{ key: 'banner', patch: { enabled: true } }]);
    expect(await seen('schedule list --project sale')).toMatch(
      /^ID +DUE +ENVIRONMENT +CHANGE +BY +STATUS +NOTE\n[\w-]+ +\d{4}.* production +banner: on +token:\w+ +pending\n$/,
    );
    expect(await seen(`schedule cancel ${id} --project sale`)).toBe(`Canceled schedule ${id}.\n`);
    expect(await seen('schedule list --project sale')).toMatch(/^No pending changes in sale\. .* --all /);
    expect(await seen('schedule list --project sale --all')).toContain(' canceled');
  });

  test('the node makes the change once it is due', async () => {
    const at = await beforeDeadline(async (deadline) => {
      const at = new Date(deadline).toISOString();
      const place = '--project sale --env staging'.split(' ');
      await json(['schedule', 'create', 'timed', ...place, '--at', at, '--on']);
      return at;
    }, 1_200);
    const { status, seq } = await until('the schedule is no longer pending', async () => {
      const [schedule] = (await json('schedule list --project sale --env staging --all')).schedules;
      return schedule.status !== 'pending' && schedule;
    });
    expect([status, typeof seq]).toEqual(['done', 'number']);
    expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(at));
    expect(await seen('flag get timed --project sale --env staging')).toContain('state     on');
  });

  test('invalid options end with 2', async () => {
    const base = 'schedule create a --project sale --env staging';
    for (const wrong of ['--at 12h', '--at 12h --on --off', '--at soon --on', '--at 12h --remove --on']) {
      expect(await halyard(`${base} ${wrong}`)).toMatchObject({ exitCode: 2, out: '' });
    }
    expect(await halyard('schedule cancel none --project sale')).toMatchObject({ exitCode: 3 });
    const removal = await json(`${base} --at 12h --remove`);
    expect(removal.changes).toEqual([{ key: 'a', state: null }]);
    await json(`${base} --at 12h --on --no-value --rollout 25`);
    const list = await seen('schedule list --project sale --env staging');
    expect(list).toContain(' a: remove ');
    expect(list).toContain(' a: on, 25%, no value ');
  });

  test('a time without a zone is rejected with how to write one', async () => {
    const run = await halyard('schedule create a --project sale --env staging --on --at 2127-01-31T09:00:00');
    expect(run).toMatchObject({ exitCode: 2, out: '' });
    expect(run.err).toContain('has no time zone. Write 2127-01-31T09:00:00Z for UTC');
  });
});

describe('rollout', () => {
  test('start, list, pause, resume, advance and stop a plan', async () => {
    await halyard('flag set launch --project sale --env production --off');
    const start = 'rollout start launch --project sale --env production --plan'.split(' ');
    const refused = await halyard([...start, '5 %, 90m, 25, 2127-01-31T09:00:00Z, 100']);
    expect(refused.err).toContain('The time of step 3 must be 1 minute to 90 days after step 2.');
    const begun = await seen([...start, '5 %, 90m, 25, 1d, 100', '--note', 'go']);
    expect(begun).toMatch(
      /^Started plan [\w-]+\.\nlaunch in production: running\nSTEP +ROLLOUT +STATUS +TIME\n1 +5 % +done /,
    );
    expect(begun).toMatch(/\n2 +25 % +next +\d{4}-.*\n3 +100 % +waiting +\d{4}-/);
    const [{ id, steps }] = (await json('rollout list --project sale')).rollouts;
    expect(steps.map((step: { waitMinutes?: number }) => step.waitMinutes)).toEqual([undefined, 90, 1440]);
    expect(await seen('rollout list --project sale --env production --flag launch')).toMatch(
      /^ID +FLAG .*\n[\w-]+ +launch +production +5 \(25\) \(100\) +\d{4}.*Z +token:\w+ +running +go\n$/,
    );
    const paused = await seen(['rollout', 'pause', id, '--project', 'sale', '--note', 'errors rise']);
    expect(paused).toMatch(/^Paused plan .*\nlaunch in production: paused, token:\w+: errors rise\n/);
    expect((await json(`rollout resume ${id} --project sale`)).status).toBe('running');
    expect(await seen(`rollout advance ${id} --project sale`)).toMatch(/\n2 +25 % +done /);
    expect(await seen('flag get launch --project sale --env production')).toContain('25');
    expect(await seen(`rollout stop ${id} --project sale`)).toContain(': stopped\n');
    expect(await seen('rollout list --project sale')).toMatch(/^No open rollout plans in sale\. .* --all /);
    expect(await seen('rollout list --project sale --all')).toContain(' stopped');
    expect(await seen(`rollout show ${id} --project sale`)).toMatch(/\n3 +100 % +skipped +-\n$/);
    expect(await halyard(`rollout pause ${id} --project sale`)).toMatchObject({ exitCode: 4 });
  });

  test('a plan that a write paused skips the steps that the flag has passed, and says how to resume it', async () => {
    await halyard('flag set passed --project sale --env production --off');
    const plan = 'rollout start passed --project sale --env production --plan'.split(' ');
    const { id } = await json([...plan, '5, 1d, 25, 1d, 100']);
    await halyard('flag set passed --project sale --env production --rollout 30');
    const shown = await seen(`rollout show ${id} --project sale`);
    expect(shown).toMatch(/^passed in production: paused, .*\nResume it with "halyard rollout resume /);
    expect(shown).toContain(`resume ${id} --project sale".\n`);
    expect(shown).toMatch(/\n1 +5 % +done .*\n2 +25 % +skipped +-\n3 +100 % +next +-\n$/);
    expect(await seen('rollout list --project sale --flag passed')).toMatch(/ production +5 \(100\) +- /);
    await halyard('flag set passed --project sale --env production --rollout 100');
    expect(await seen(`rollout show ${id} --project sale`)).toContain(
      'no step is left above that: stop the plan',
    );
  });

  test('a plan and a scheduled change of one flag need --anyway, whichever comes second', async () => {
    const place = '--project sale --env production';
    for (const key of ['planned', 'timed-first']) await halyard(`flag set ${key} ${place} --off`);
    const plan = (key: string) => [...`rollout start ${key} ${place} --plan`.split(' '), '5, 90m, 100'];
    const schedule = (key: string) => `schedule create ${key} ${place} --at 12h --off`.split(' ');
    for (const [first, second] of [
      [plan('planned'), schedule('planned')],
      [schedule('timed-first'), plan('timed-first')],
    ] as const) {
      await seen(first);
      const refused = await halyard(second);
      expect([refused.exitCode, refused.out]).toEqual([4, '']);
      expect(refused.err).toContain('--anyway');
      await seen([...second, '--anyway']);
    }
  });
});

describe('copy', () => {
  test('shows the differences, copies them, and then has nothing to copy', async () => {
    const places = '--project copies --from staging --to production';
    await halyard('flag set a --project copies --env staging --on --rollout 5');
    await halyard('flag set b --project copies --env staging --on');
    expect(await seen(`copy ${places} --dry-run`)).toMatch(
      /^FLAG +PRODUCTION NOW +AFTER\na +not set +on, 5%\nb +not set +on\nDry run: nothing was copied\.\n$/,
    );
    expect(await seen(`copy a ${places}`)).toMatch(
      /\nCopied from staging to production of copies \(revision 1\)/,
    );
    expect((await json(`copy ${places}`)).changed).toEqual(['b']);
    expect(await seen(`copy ${places}`)).toBe('production already has everything that staging has.\n');
    expect(await halyard('copy --project copies --from moon --to production')).toMatchObject({ exitCode: 3 });
  });

  test('copies named flags only, and ends with 3 for an unknown one', async () => {
    const places = '--project copies --from staging --to production';
    await halyard('flag set c --project copies --env staging --on');
    expect(await seen(`copy a ${places}`)).toBe('a is already the same in staging and production.\n');
    const misspelled = await halyard(`copy cc a ${places}`);
    expect(misspelled).toMatchObject({ exitCode: 3, out: '' });
    expect(misspelled.err).toContain('The flag "cc" does not exist here');
  });
});

describe('change', () => {
  test('show describes a change, revert undoes it', async () => {
    await halyard('flag set a --project changes --env production --on');
    const { seq } = await json([
      'flag',
      'set',
      'a',
      ...'--project changes --env production --off'.split(' '),
    ]);
    expect(await seen(`change show ${seq}`)).toMatch(
      /^Change \d+, .* by token:\w+\nACTION +WHERE +TARGET +BEFORE +AFTER\nflag\.changed +changes\/production +a +\{"enabled":true\} +\{"enabled":false\}\n$/,
    );
    expect(await seen(`change revert ${seq} --dry-run`)).toEndWith('Dry run: nothing was reverted.\n');
    expect(await seen(`change revert ${seq}`)).toMatch(
      new RegExp(`^WHERE +NOW +BEFORE\na in production +.*\nReverted change ${seq} \\(change \\d+\\)\\.\n$`),
    );
    await halyard('flag set a --project changes --env production --rollout 1');
    const refused = await halyard(`change revert ${seq}`);
    expect(refused).toMatchObject({ exitCode: 4, out: '' });
    expect(refused.err).toContain('"force"');
    expect((await json(`change revert ${seq} --force`)).seq).toBeNumber();
    expect(await seen(`change revert ${seq} --force`)).toStartWith('Nothing to revert');
    expect(await halyard('change show x')).toMatchObject({ exitCode: 2 });
    expect(await halyard('change show 999999')).toMatchObject({ exitCode: 3 });
  });
});
