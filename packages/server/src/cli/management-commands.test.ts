import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PROJECT_KEY_PATTERN } from '@halyard/protocol';
import { type NodeProcess, startNode } from '@halyard/testing';
import { commandsAt } from './test-shell.ts';

let node: NodeProcess;
const { halyard, json, seen } = commandsAt(() => node);
const folder = mkdtempSync(join(tmpdir(), 'halyard-cli-'));

beforeAll(async () => {
  node = await startNode({ env: { HALYARD_DRAIN_SECONDS: '0' } });
  await halyard('project create shop');
}, 60_000);

afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await node.stop();
}, 60_000);

const PRODUCTION = ['--project', 'shop', '--env', 'production'];

describe('project', () => {
  test('create adds a project with three environments', async () => {
    expect(await seen('project create bakery')).toMatch(/^Created project bakery with .*production.*\.\n$/);
    expect((await json('project create cellar')).name).toBe('cellar');
  });

  test('list shows all projects', async () => {
    expect(await seen('project list')).toMatch(
      /^PROJECT +CREATED\n[\s\S]*\nshop +\d{4}-\d\d-\d\d \d\d:\d\dZ\n$/,
    );
    const { projects } = await json('project list');
    expect(projects.map((project: { name: string }) => project.name)).toContain('shop');
  });

  test('create ends with 4 for a name in use and with 2 for an invalid one', async () => {
    const taken = await halyard('project create shop');
    expect(taken).toMatchObject({ exitCode: 4, out: '' });
    expect(taken.err).toMatch(/^error: .+\n {7}See http.+\/errors\/already_exists\n$/);
    expect(await halyard(['project', 'create', 'No Name'])).toMatchObject({ exitCode: 2, out: '' });
  });

  test('update switches reports of reads on and off', async () => {
    await halyard('project create counted');
    expect(await seen('project update counted --usage')).toBe(
      'Updated project counted: its clients report reads.\n',
    );
    expect((await json('project update counted --no-usage')).usageSince).toBeUndefined();
    expect(await halyard('project update counted')).toMatchObject({ exitCode: 2, out: '' });
  });

  test('delete removes a project, and ends with 3 for one that does not exist', async () => {
    await halyard('project create shed');
    expect(await seen('project delete shed --yes')).toBe('Deleted project shed.\n');
    const gone = await halyard('project delete shed --yes');
    expect(gone).toMatchObject({ exitCode: 3, out: '' });
    expect(gone.err).toContain('/errors/project_not_found');
  });
});

describe('environment', () => {
  test('create, list and delete an environment', async () => {
    expect(await seen('environment create shop preview')).toBe('Created environment preview of shop.\n');
    expect(await seen('environment list shop')).toMatch(
      /^ENVIRONMENT +REVISION +PROTECTED +CREATED\n[\s\S]*\nproduction +0 +yes [\s\S]*\npreview +0 +no /,
    );
    expect(await seen('environment delete shop preview --yes')).toBe(
      'Deleted environment preview of shop.\n',
    );
    const gone = await halyard('environment delete shop preview --yes');
    expect(gone).toMatchObject({ exitCode: 3 });
    expect(gone.err).toContain('/errors/environment_not_found');
  });
});

describe('flag', () => {
  test('set creates a missing flag, and shows old and new state', async () => {
    expect(await seen(['flag', 'set', 'fresh', ...PRODUCTION, '--on'])).toMatch(
      /^fresh in production of shop: not set -> on \(revision \d+\)\n$/,
    );
    expect(
      await seen(['flag', 'set', 'fresh', ...PRODUCTION, '--rollout', '12.5', '--value', '"blue"']),
    ).toMatch(/: on -> on, 12.5%, value "blue" \(revision \d+\)\n$/);
    expect(
      await seen(['flag', 'set', 'fresh', ...PRODUCTION, '--off', '--no-rollout', '--no-value']),
    ).toMatch(/: on, 12.5%, value "blue" -> off \(revision \d+\)\n$/);
    expect(await seen(['flag', 'set', 'fresh', ...PRODUCTION, '--off'])).toMatch(/: off \(unchanged\)\n$/);
  });

  test('set writes JSON on standard output when piped, and both states on standard error', async () => {
    const run = await halyard(['flag', 'set', 'piped', ...PRODUCTION, '--on']);
    expect(JSON.parse(run.out)).toMatchObject({ key: 'piped', state: { enabled: true }, changed: true });
    expect(run.err).toStartWith('piped in production of shop: not set -> on (');
  });

  test('set sends the text of a value unchanged', async () => {
    const value = '{"z":1.0,"a":12345678901234567890}';
    await halyard(['flag', 'set', 'exact', ...PRODUCTION, '--on', '--value', value]);
    expect((await halyard(['flag', 'get', 'exact', ...PRODUCTION])).out).toContain(`"value":${value}`);
    expect(await seen(['flag', 'get', 'exact', ...PRODUCTION])).toContain('"a":12345678901234567890');
  });

  test('set --expect ends with 4 for another revision or an existing flag', async () => {
    const { revision } = await json(['flag', 'set', 'guarded', ...PRODUCTION, '--on']);
    const set = (expected: string | number) =>
      halyard(['flag', 'set', 'guarded', ...PRODUCTION, '--rollout', '50', '--expect', `${expected}`]);
    expect(await set(revision + 1000)).toMatchObject({ exitCode: 4, out: '' });
    expect((await set('none')).err).toContain('/errors/revision_conflict');
    expect(await set(revision)).toMatchObject({ exitCode: 0 });
  });

  test('get and list show states', async () => {
    await halyard(['flag', 'set', 'shown', ...PRODUCTION, '--on', '--value', '[1,2]']);
    expect(await seen(['flag', 'get', 'shown', ...PRODUCTION])).toMatch(
      /^shown in production of shop\n {2}state {5}on, value \[1,2\]\n {2}revision {2}\d+\n {2}changed {3}\d{4}-/,
    );
    expect(await seen(['flag', 'list', ...PRODUCTION])).toMatch(
      /^FLAG +STATE +REVISION +CHANGED\n[\s\S]*shown +on, value \[1,2\] +\d+ +\d{4}-/,
    );
    expect((await json(['flag', 'list', ...PRODUCTION])).environment).toBe('production');
    expect(await seen('flag list --project shop --env staging')).toMatch(
      /^No flags in staging of shop\. .* --archived"\.\n$/,
    );
  });

  test('delete removes a flag from one environment', async () => {
    await halyard(['flag', 'set', 'short-lived', ...PRODUCTION, '--on']);
    await halyard('flag set short-lived --project shop --env development --on');
    expect(await seen(['flag', 'delete', 'short-lived', ...PRODUCTION])).toBe(
      'Deleted short-lived from production of shop.\n',
    );
    const gone = await halyard(['flag', 'get', 'short-lived', ...PRODUCTION]);
    expect(gone).toMatchObject({ exitCode: 3, out: '' });
    expect(gone.err).toContain('/errors/flag_not_found');
    expect(await halyard('flag get short-lived --project shop --env development')).toMatchObject({
      exitCode: 0,
    });
  });
});

describe('key', () => {
  const CREATE = ['key', 'create', '--project', 'shop', '--env', 'production,staging'];

  test('create writes only the key on standard output, and no part of it elsewhere', async () => {
    for (const isTerminal of [true, false]) {
      const run = await halyard([...CREATE, '--name', 'service'], { isTerminal });
      expect(run.exitCode).toBe(0);
      expect(run.out).toMatch(new RegExp(`^${PROJECT_KEY_PATTERN.source}\n$`));
      expect(run.err).toContain('reads production, staging of shop and never expires.');
      expect(run.err).not.toContain('proj_live_');
    }
  });

  test('a new key reads flags, has its expiry, is listed, and is rejected once revoked', async () => {
    const key = (await halyard([...CREATE, '--name', 'short', '--expires', '30d'])).out.trim();
    const read = () => fetch(`${node.url}/v1/flags?env=production`, { headers: { 'X-Service-Key': key } });
    expect((await read()).status).toBe(200);
    const { keys } = await json('key list --project shop');
    const record = keys.find((candidate: { name: string }) => candidate.name === 'short');
    expect(record).toMatchObject({ lastFour: key.slice(-4), status: 'active' });
    expect(Date.parse(record.expiresAt) - Date.now()).toBeWithin(29 * 86_400_000, 30 * 86_400_000 + 1);
    const table = await seen('key list --project shop');
    expect(table).toMatch(/^ID +NAME +KEY +ENVIRONMENTS +STATUS +CREATED +EXPIRES +LAST USED\n/);
    expect(table).toContain(`...${key.slice(-4)}`);
    expect(table).not.toContain(key);
    expect(await seen(`key revoke ${record.id}`)).toBe(`Revoked key short (${record.id}).\n`);
    expect((await read()).status).toBe(401);
  });

  test('replace writes only the new key on standard output, and the other one gets an end', async () => {
    await halyard([...CREATE, '--name', 'turned']);
    const [old] = (await json('key list --project shop')).keys.filter(
      ({ name }: { name: string }) => name === 'turned',
    );
    const run = await halyard(`key replace ${old.id} --ends 3d`);
    expect(run.out).toMatch(new RegExp(`^${PROJECT_KEY_PATTERN.source}\n$`));
    expect(run.err).toMatch(new RegExp(`^Key turned \\(.+\\) replaces ${old.id}, which expires at .+\n`));
    expect(await halyard(`key replace ${old.id}`)).toMatchObject({ exitCode: 4, out: '' });
  });

  test('revoke of an id that does not exist ends with 3', async () => {
    const run = await halyard('key revoke nothing');
    expect(run).toMatchObject({ exitCode: 3, out: '' });
    expect(run.err).toContain('/errors/key_not_found');
  });
});

describe('token', () => {
  test('create writes only the token; once revoked, it ends commands with 4', async () => {
    const run = await halyard('token create --name pipeline --expires 12h', { isTerminal: true });
    expect(run.out).toMatch(/^hat_[0-9A-Za-z]{43}\n$/);
    expect(run.err).not.toContain('hat_');
    const asPipeline = { env: { HALYARD_TOKEN: run.out.trim() } };
    expect(await halyard('project list', asPipeline)).toMatchObject({ exitCode: 0 });
    const { tokens } = await json('token list');
    const { id } = tokens.find((token: { name: string }) => token.name === 'pipeline');
    expect(await seen('token list')).toMatch(
      /^ID +NAME +ROLE +CREATED +EXPIRES +REVOKED +LAST USED\n[\s\S]*pipeline +editor /,
    );
    expect(await seen(`token revoke ${id}`)).toBe(`Revoked token ${id}.\n`);
    const refused = await halyard('project list', asPipeline);
    expect(refused).toMatchObject({ exitCode: 4, out: '' });
    expect(refused.err).toContain('/errors/invalid_access_token');
    expect(refused.err).toContain('the access token from HALYARD_TOKEN:');
    expect(refused.err).not.toContain(run.out.trim());
  });
});

describe('export and import', () => {
  test('an exported document can be imported: unchanged it changes nothing, edited it applies the differences', async () => {
    await halyard('project create copied');
    await halyard('flag set kept --project copied --env staging --on');
    const file = join(folder, 'copied.yaml');
    const written = await halyard(['export', '--project', 'copied', '--out', file]);
    expect(written).toEqual({ exitCode: 0, out: '', err: `Wrote project copied to ${file}.\n` });
    const { out: document } = await halyard('export --project copied');
    expect(await Bun.file(file).text()).toBe(document);
    expect(document).toContain('project: copied');
    expect(await json(['import', file])).toMatchObject({ changes: [], kept: 0 });

    await halyard('flag set kept --project copied --env staging --off');
    await halyard('flag set extra --project copied --env staging --on');
    expect(await seen(['import', file])).toContain('Kept 1 that differ;');
    expect((await halyard(['diff', file])).out).toContain('  flag extra is not in the file\n');
    const viewer = (await halyard('token create --name differ --role viewer')).out.trim();
    const different = await halyard(['diff', file, '--prune'], { env: { HALYARD_TOKEN: viewer } });
    expect(different).toMatchObject({ exitCode: 5, err: `error: ${file} and the server differ.\n` });
    expect(different.out).toStartWith('- flag extra: archive\n~ staging/kept: off -> on\nYou may not:\n');
    const planned = await seen(['import', file, '--policy', 'enforce', '--prune', '--dry-run']);
    expect(planned).toContain('- flag extra: archive\n');
    expect(planned).toContain('~ staging/kept: off -> on\n');
    expect(planned).toContain('Dry run: would change 1 flag state of copied.\n');
    const [, plan = ''] = /To import exactly this: --plan (\S+)\n$/.exec(planned) ?? [];
    expect((await halyard(['import', file, '--plan', plan])).exitCode).toBe(4);
    expect(await seen(['import', file, '--policy', 'enforce', '--prune', '--plan', plan])).toEndWith(
      'Changed 1 flag state of copied.\n',
    );
    const same = await halyard(['diff', file, '--prune']);
    expect(same).toEqual({ exitCode: 0, out: `${file} and copied are the same.\n`, err: '' });
    expect(JSON.parse((await halyard(['diff', file, '--json'])).out)).toMatchObject({ same: true });
  });

  test('import reads JSON from standard input and creates its project', async () => {
    const { out } = await halyard('export --project shop --format json');
    const input = JSON.stringify({ ...JSON.parse(out), project: 'twin' });
    const run = await halyard('import - --note copy', { input, isTerminal: true });
    expect(run).toMatchObject({ exitCode: 0, err: '' });
    expect(run.out).toStartWith('+ project twin\n');
    expect(JSON.parse((await halyard('export --project twin --format json')).out)).toEqual(JSON.parse(input));
  });

  test('export writes an environment in the format of flagd', async () => {
    await halyard('project create for-flagd');
    await halyard('flag set half --project for-flagd --env staging --on --rollout 50');
    const { out } = await halyard('export --project for-flagd --format flagd --env staging');
    expect(JSON.parse(out)).toMatchObject({
      flags: { half: { defaultVariant: 'off' } },
      metadata: { environment: 'staging', revision: 1 },
    });
    const omitted = await halyard('export --project for-flagd --format flagd --env staging --omit-rollouts');
    expect(JSON.parse(omitted.out).flags).toEqual({});
    for (const wrong of ['--format flagd', '--env staging', '--omit-rollouts'])
      expect(await halyard(`export --project for-flagd ${wrong}`)).toMatchObject({ exitCode: 2, out: '' });
  });

  test('import ends with 2 for an invalid document', async () => {
    expect(await halyard('import -', { input: 'just: text' })).toMatchObject({ exitCode: 2, out: '' });
    expect(await halyard('import -', { input: ' ' })).toMatchObject({ exitCode: 2, out: '' });
  });
});

test('types writes declarations with the types of values', async () => {
  await halyard('project create typed');
  const place = '--project typed --env production';
  await halyard(['flag', 'set', 'limit', ...place.split(' '), '--on', '--value', '25']);
  await halyard(['flag', 'set', 'plain', ...place.split(' '), '--on']);
  const run = await halyard('types --project typed --openfeature');
  expect(run).toMatchObject({ exitCode: 0, err: '' });
  expect(run.out).toContain("      'limit': number;\n      'plain': boolean;\n");
  expect(run.out).toContain("export type NumberFlagKey = 'limit';");
  expect((await halyard('types --project nobody')).exitCode).toBe(3);
});

test('openapi prints the document without a token', async () => {
  const run = await halyard('openapi', { env: { HALYARD_TOKEN: '' } });
  expect(JSON.parse(run.out).openapi).toStartWith('3.1');
});

describe('flag update', () => {
  test('changes the description, the tags, the owner and the permanent mark', async () => {
    await json(['flag', 'set', 'described', ...PRODUCTION, '--on']);
    const update = ['flag', 'update', 'described', '--project', 'shop'];
    const texts = ['--description', 'For the launch', '--tags', 'web, release,', '--owner', 'payments'];
    expect(await seen([...update, ...texts])).toBe('Updated described of shop.\n');
    expect(await json([...update, '--tags', ''])).toMatchObject({
      key: 'described',
      description: 'For the launch',
      tags: [],
      owner: 'payments',
    });
    expect(await json([...update, '--permanent'])).toMatchObject({ owner: 'payments', permanent: true });
    expect(await json([...update, '--no-permanent'])).toMatchObject({ permanent: false });
    expect(await json([...update, '--value-kind', 'number'])).toMatchObject({ valueKind: 'number' });
    expect(await halyard(update)).toMatchObject({ exitCode: 2, out: '' });
  });
});

test('flag list --stale shows the state that a flag has everywhere, and for how long', async () => {
  await halyard('project create old');
  for (const environment of ['development', 'staging', 'production'])
    await halyard(`flag set finished --project old --env ${environment} --on`);
  expect(await seen('flag list --project old --stale 30d')).toBe('No stale flags in old.\n');
  expect(await seen('flag list --project old --stale 0m')).toMatch(/^FLAG .*\nfinished {2}on +0 days/);
  expect(await halyard('flag list --project old --stale soon')).toMatchObject({ exitCode: 2 });
  expect(await halyard('flag list --project old --stale 1d --archived')).toMatchObject({ exitCode: 2 });
});
