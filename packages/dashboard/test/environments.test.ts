import { expect, test } from 'bun:test';
import { openSse, until } from '@halyard/testing';
import { SqlUsageStore } from '../../server/src/nouns/usage/usage-table.ts';
import { openSqlite } from '../../server/src/storage/engines/sqlite.ts';
import { databaseFile } from '../../server/src/storage/schema.ts';
import { visit } from './support/visit.ts';
import { sharedWorld } from './support/world.ts';

// A test writes to the database itself.
const world = sharedWorld(undefined, { engine: 'SQLite' });

test('environments are created, colored, moved, unprotected and deleted by name', async () => {
  const { management, node } = world;
  await management.createProject('shop');
  await management.putState('shop', 'production', 'new-checkout', { enabled: true });
  const { key } = await management.createKey('shop', ['production']);
  const stream = await openSse(`${node.url}/v1/stream?env=production`, { headers: { 'X-Service-Key': key } });
  const { page, check } = await world.open('/projects/shop/environments');
  const names = () => page.getByRole('rowheader').allTextContents();
  await page.getByRole('rowheader', { name: 'production' }).waitFor();
  await check();

  await page.keyboard.press('n');
  const form = page.getByRole('dialog', { name: 'New environment' });
  await form.getByLabel('Name').fill('Preview!');
  await form.getByText('Use lowercase letters').waitFor();
  await form.getByLabel('Name').fill('preview');
  await form.getByRole('radio', { name: 'violet' }).check();
  await check();
  await form.getByRole('button', { name: 'Create environment' }).click();
  await form.waitFor({ state: 'detached' });
  await page.getByRole('rowheader', { name: 'preview' }).waitFor();

  await page.getByRole('button', { name: 'More for preview' }).click();
  await page.getByRole('menuitem', { name: 'Move up' }).click();
  await page.getByText('preview is now 3 of 4').waitFor();
  // Between the two writes that it takes, the old order may have been read once more.
  await page.getByRole('rowheader').nth(2).filter({ hasText: 'preview' }).waitFor();
  expect(await names()).toEqual(['development', 'staging', 'preview', 'production']);
  await page.reload();
  await page.getByRole('rowheader', { name: 'production' }).waitFor();
  expect(await names()).toEqual(['development', 'staging', 'preview', 'production']);

  await page.getByRole('button', { name: 'Edit production' }).click();
  await page.getByRole('checkbox', { name: 'Protected' }).uncheck();
  await page.getByText('Without protection, every editor').waitFor();
  await page.getByRole('button', { name: 'Remove protection from production' }).click();
  const production = page.getByRole('row', { name: /^production/ });
  await production.getByRole('cell', { name: 'none' }).waitFor();

  await production.getByRole('button', { name: 'More for production' }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  const question = page.getByRole('dialog', { name: 'Delete production?' });
  await question.getByText('1 open stream is closed.').waitFor();
  const go = question.getByRole('button', { name: 'Delete environment' });
  await go.click();
  await question.getByText('Type “production” exactly.').waitFor();
  await question.getByRole('textbox').fill('production');
  await check();
  await go.click();
  await production.waitFor({ state: 'detached' });
  expect((await stream.ended).how).not.toBe('left');
}, 60_000);

test('an environment is published by its name, and withdrawn', async () => {
  await world.management.createProject('public');
  await world.management.putState('public', 'production', 'new-checkout', { enabled: true });
  const { page, check } = await world.open('/projects/public/environments');
  await page.getByRole('button', { name: 'Publish production' }).click();
  const question = page.getByRole('dialog', { name: 'Publish production?' });
  await question.getByText('Published flags need no key.').waitFor();
  await question.getByRole('button', { name: 'Publish without a key' }).click();
  await question.getByText('Type “production” exactly.').waitFor();
  await question.getByRole('textbox').fill('production');
  await check();
  await question.getByRole('button', { name: 'Publish without a key' }).click();

  const row = page.getByRole('listitem').filter({ hasText: 'public/production/pointer.json' });
  await row.getByText('Nodes need HALYARD_PUBLISH_URL to write it.').waitFor();
  await check();
  await row.getByRole('button', { name: 'Withdraw production' }).click();
  await page.getByRole('button', { name: 'Withdraw', exact: true }).click();
  await row.waitFor({ state: 'detached' });
  expect(await world.management.request('GET', '/api/projects/public/publications')).toEqual({
    publications: [],
  });
}, 60_000);

test('a protected environment is created in one request', async () => {
  await world.management.createProject('atomic');
  const { page } = await world.open('/projects/atomic/environments');
  const asked: string[] = [];
  page.on('request', (request) => request.method() === 'GET' || asked.push(request.method()));
  await page.getByRole('button', { name: 'New environment' }).click();
  await page.getByLabel('Name').fill('live');
  await page.getByRole('radio', { name: 'red' }).check();
  await page.getByRole('checkbox', { name: 'Protected' }).check();
  await page.getByRole('button', { name: 'Create environment' }).click();
  await page.getByRole('row', { name: /^live protected/ }).waitFor();
  // A second request may fail, and would leave it open to every editor.
  expect(asked).toEqual(['POST']);
}, 60_000);

test('a new color does not undo the protection that another person adds at the same time', async () => {
  await world.management.createProject('pair');
  const { page } = await world.open('/projects/pair/environments');
  await page.getByRole('button', { name: 'Edit staging' }).click();
  await page.getByRole('radio', { name: 'violet' }).check();
  await world.management.request('PATCH', '/api/projects/pair/environments/staging', {
    body: { protected: true },
  });
  await page.getByRole('checkbox', { name: 'Protected', checked: true }).waitFor();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Environment staging updated').waitFor();
  // As in the API's contract.
  const { environments } = (await world.management.request('GET', '/api/projects/pair/environments')) as {
    environments: { name: string; color: string; protected: boolean }[];
  };
  expect(environments.find(({ name }) => name === 'staging')).toMatchObject({
    color: 'violet',
    protected: true,
  });
}, 60_000);

test('a protected environment and a project are deleted by typing their names', async () => {
  await world.management.createProject('old');
  const { page, check } = await world.open('/projects/old/environments', {
    theme: 'dark',
    width: 390,
    // While the next screen loads, the one of the deleted project may read it again.
    expected: /status of 404/,
  });
  // The screen's own name is the last of the navigation, and has to be scrolled to.
  await until('the link is in view', async () => {
    const place = await page.getByRole('link', { name: 'Environments' }).boundingBox();
    return place !== null && place.x + place.width <= 390;
  });
  await page.getByRole('button', { name: 'More for production' }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('textbox').fill('production');
  await page.getByRole('button', { name: 'Delete environment' }).click();
  await page.getByText('Environment production deleted').waitFor();
  await page.getByRole('button', { name: 'Dismiss' }).click();
  await check();
  await page.getByRole('link', { name: 'General' }).click();
  await page.getByRole('heading', { name: 'Project settings' }).waitFor();
  await check();
  expect(await page.getByRole('link', { name: 'Export as YAML' }).getAttribute('href')).toBe(
    '/api/projects/old/export?format=yaml',
  );
  await page.getByRole('button', { name: 'Delete project' }).click();
  const question = page.getByRole('dialog', { name: 'Delete project old?' });
  await question.getByText('the environments development, staging').waitFor();
  await question.getByRole('textbox').fill('old');
  await question.getByRole('button', { name: 'Delete project' }).click();
  await page.getByText('Project old deleted').waitFor();
  await page.getByRole('heading', { name: 'Projects' }).waitFor();
  await page.getByRole('link', { name: /^old/ }).waitFor({ state: 'detached' });
}, 60_000);

test('reads are counted once an administrator wants it; a flag shows them, and the list marks flags that are not read', async () => {
  const { management, node } = world;
  await management.createProject('counted');
  for (const key of ['busy', 'idle', 'young'])
    await management.putState('counted', 'production', key, { enabled: true });
  const { page, check } = await world.open('/projects/counted/flags/busy');
  const reads = page.getByRole('region', { name: 'Reads' });
  await reads.getByText("Reads aren't counted").waitFor();
  await reads.getByRole('link', { name: 'Count reads' }).click();
  const box = page.getByRole('checkbox', { name: 'Count how often each flag is read' });
  await box.check();
  await page.getByText('Reads are counted', { exact: true }).waitFor();

  const database = await openSqlite({ path: databaseFile(node.dataFolder) });
  const [production] = await database.query<{ id: string }>(
    `SELECT e.id FROM environments e JOIN projects p ON p.id = e.project_id
      WHERE p.name = 'counted' AND e.name = 'production'`,
  );
  const usage = [{ environmentId: production?.id ?? '', flags: [['busy', 1500, 500] as const] }];
  await new SqlUsageStore(database).add(usage, Date.now());
  // As if all but one flag were there, and counted, for a year.
  const yearAgo = Date.now() - 365 * 86_400_000;
  await database.query("UPDATE flags SET created_at = $1 WHERE key IN ('busy', 'idle')", [yearAgo]);
  await database.query("UPDATE projects SET usage_since = $1 WHERE name = 'counted'", [yearAgo]);
  await database.close();

  await page.goto(`${node.url}/projects/counted/flags/busy`);
  await reads.getByText('2,000 reads, on in 75 %').first().waitFor();
  await reads.getByRole('img', { name: 'Last 24 hours: 2,000 reads, on in 75 %' }).waitFor();
  const row = reads.getByRole('row', { name: /^production/ });
  expect(await row.getByRole('cell').allTextContents()).toEqual(['2K', '2K', 'last hour']);
  await check();
  await page.goto(`${node.url}/projects/counted/flags/idle`);
  await reads.getByText('No client has read this flag yet.').waitFor();
  await visit(page, `/projects/counted/flags`);
  await page.getByText('not read for 30 days').waitFor();
  expect(await page.getByRole('row').filter({ hasText: 'not read' }).getByRole('link').textContent()).toBe(
    'idle',
  );
  // When each was last read in the environments that are shown.
  const listed = () => page.locator('tr[data-flag]').allInnerTexts();
  expect((await listed()).map((text) => /last hour|never/.exec(text)?.[0])).toEqual([
    'last hour',
    'never',
    'never',
  ]);
  await page.getByRole('button', { name: 'Last read' }).click();
  await page
    .getByRole('columnheader', { name: 'Last read' })
    .and(page.locator('[aria-sort=descending]'))
    .waitFor();
  await page.getByRole('button', { name: 'Last read' }).click();
  await page.locator('[data-row="2"][data-flag="busy"]').waitFor();
  await page.getByRole('combobox', { name: 'Environment' }).selectOption('staging');
  await page.getByRole('row', { name: /busy/ }).getByText('never').waitFor();
  await check();

  // What can be removed, and why.
  await visit(page, `/projects/counted/clean-up`);
  await page.getByRole('tab', { name: 'Not read 1', selected: true }).waitFor();
  const candidate = page.getByRole('row', { name: /idle/ });
  await candidate.getByText('not read for 30 days').waitFor();
  // What is meant to stay is in a list of its own, with its reads of today as elsewhere.
  await management.request('PATCH', '/api/projects/counted/flags/busy', { body: { permanent: true } });
  await page.getByRole('tab', { name: 'Permanent 1' }).click();
  await page
    .getByRole('row', { name: /busy/ })
    .getByRole('img', { name: 'Last 24 hours: 2,000 reads, on in 75 %' })
    .waitFor();
  await check();
  await page.getByRole('tab', { name: 'Not read 1' }).click();
  expect(await page.getByRole('columnheader', { name: 'In the code' }).count()).toBe(0);

  // What the code says of it, once a pipeline has reported.
  const report = (flags: readonly object[]) =>
    management.request('PUT', '/api/projects/counted/code-references', {
      body: {
        repository: 'web',
        commit: 'abc1234',
        link: 'https://git.example/{commit}/{path}#L{line}',
        flags,
      },
    });
  await report([{ key: 'idle', places: 0, files: 0 }]);
  await page.reload();
  await candidate.getByText('no place found').waitFor();
  await candidate.getByText('abc1234, just now').waitFor();
  await report([{ key: 'idle', places: 3, files: 2, first: [{ path: 'src/a b?.ts', line: 7 }] }]);
  await page.reload();
  await candidate.getByRole('link', { name: '3 places in 2 files' }).click();
  await page.getByRole('tab', { name: 'Code 3', selected: true }).waitFor();
  const code = page.getByRole('region', { name: 'In the code' });
  const place = code.getByRole('link', { name: 'src/a b?.ts:7' });
  expect(await place.getAttribute('href')).toBe('https://git.example/abc1234/src/a%20b%3F.ts#L7');
  await code.getByText('and 2 more places').waitFor();
  await check();
  // No report names this one.
  const answered = page.waitForResponse(/busy\/code-references$/);
  await page.goto(`${node.url}/projects/counted/flags/busy`);
  expect(await (await answered).json()).toEqual({ repositories: [] });
  await reads
    .getByRole('row', { name: /^staging/ })
    .or(reads.getByText('Last 30 days'))
    .first()
    .waitFor();
  expect(await code.count()).toBe(0);
  await page.goto(`${node.url}/projects/counted/clean-up?why=unread`);
  await candidate.getByText('3 places in 2 files').waitFor();
  expect(await page.locator('header [aria-current]').allTextContents()).toEqual(['Flags']);
  expect(await page.getByRole('tab').allTextContents()).toEqual([
    'Ready to remove 0',
    'Not read 1',
    'Same everywhere 0',
    'Permanent 1',
    'Archived long ago 0',
  ]);
  await page.getByRole('button', { name: 'Select all 1' }).click();
  await check();
  await page.getByRole('region', { name: 'Selected flags' }).getByRole('button', { name: 'Archive' }).click();
  const archiving = page.getByRole('dialog', { name: /^Archive/ });
  await archiving.getByRole('button', { name: 'Archive', exact: true }).click();
  await page.getByRole('tab', { name: 'Not read 0' }).waitFor();
}, 60_000);

test('a document is compared flag by flag, and imported as it was shown or not at all', async () => {
  const { management } = world;
  await management.createProject('depot');
  for (const key of ['kept', 'gone'])
    await management.putState('depot', 'production', key, { enabled: true, value: { limit: 1 } });
  await management.request('PATCH', '/api/projects/depot/environments/production', {
    body: { reasonRequired: true },
  });
  const { page, check } = await world.open('/projects/depot/settings', { expected: /400|412/ });
  const choose = async (name: string, lines: readonly string[]) => {
    const buffer = Buffer.from(lines.join('\n'));
    const file = page.getByLabel('Document to import');
    await file.setInputFiles({ name, mimeType: 'application/yaml', buffer });
    return page.getByRole('dialog', { name: `Import ${name}` });
  };
  const document = [
    'halyard: 1',
    'project: depot',
    'environments: [production]',
    'flags:',
    '  kept: {environments: {production: {"enabled":true,"value":{"limit":1.0}}}}',
    '  added: {environments: {production: {"enabled":true}}}',
  ];

  const other = await choose('other.yaml', [
    'halyard: 1',
    'project: cellar',
    'environments: []',
    'flags: {}',
  ]);
  await other.getByText('The document is about the project “cellar”.').waitFor();
  await page.keyboard.press('Escape');
  await other.waitFor({ state: 'detached' });

  const wrong = await choose('wrong.yaml', ['halyard: 1', 'project: depot', 'colour: red']);
  await wrong.getByText(/^Line 3: The document has an unknown member "colour"/).waitFor();
  await check();
  await page.keyboard.press('Escape');
  await wrong.waitFor({ state: 'detached' });

  const dialog = await choose('depot.yaml', document);
  const list = dialog.getByRole('region', { name: 'What changes' });
  await list.getByText('added', { exact: true }).waitFor();
  await dialog.getByText('1 thing differs from the document and stays as it is.').waitFor();
  await dialog.getByRole('radio', { name: /Make the project equal/ }).check();
  await dialog.getByText('Only the project has 1 flag, which stay.').waitFor();
  await dialog.getByLabel('Also remove what the document lacks').check();
  await dialog.getByText('This removes or archives 1 thing:').waitFor();
  await dialog.getByText('is protected.').waitFor();
  await check();

  const headers = { 'X-Change-Note': 'n' };
  await management.putState('depot', 'production', 'late', { enabled: true }, { headers });
  await dialog.getByRole('button', { name: 'Import 3 changes' }).click();
  await dialog.getByText('Say why').waitFor();
  await dialog.getByLabel('Reason').fill('From the repository');
  await dialog.getByRole('button', { name: 'Import 3 changes' }).click();
  await dialog.getByText('This is the updated comparison; what is different: late.').waitFor();
  await list.getByText('late').waitFor();
  await dialog.getByRole('button', { name: 'Import 4 changes' }).click();
  await page.getByRole('region', { name: 'Messages' }).getByText('depot.yaml is imported').waitFor();
  await dialog.waitFor({ state: 'detached' });
  const { flags } = await management.states('depot', 'production');
  expect(flags.map(({ key }) => key).toSorted()).toEqual(['added', 'kept']);
}, 60_000);
