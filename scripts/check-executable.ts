import { join } from 'node:path';
import { openSse, temporaryFolder } from '@halyard/testing';
import { type Executable, type ServingExecutable, serveExecutable } from './executable.ts';

/** Pages that must be inside the executable. */
const PAGES = [
  '/',
  '/projects/check/flags',
  '/docs',
  '/docs/getting-started',
  '/docs/client',
  '/docs/specification',
  '/docs/operations',
  '/docs/errors/invalid_api_key',
  '/docs/docs.css',
];

/**
 * Tries a built executable from an empty folder, without anything of the repository: serving, the command line, a
 * read, a stream, the dashboard, the documentation and the OpenAPI document, and an orderly end. `env` adds settings,
 * such as another database; `home` is the folder that the command starts in, if that is not up to us. Rejects with what did not work.
 */
export async function checkExecutable(
  executable: Executable,
  env: Readonly<Record<string, string>> = {},
  home?: string,
): Promise<void> {
  using empty = temporaryFolder();
  const folder = home ?? empty.path;
  const server = await serveExecutable(executable, { folder, env });
  try {
    await checkFlags(server);
    await checkLongLists(server, folder);
    await checkDocuments(server);
    await checkDashboard(server);
  } finally {
    expect('the exit code after SIGTERM', await server.stop(), 0);
  }
}

async function checkFlags(server: ServingExecutable): Promise<void> {
  const place = ['--project', 'check', '--env', 'production'];
  await server.run('project', 'create', 'check');
  await server.run('flag', 'set', 'new-checkout', ...place, '--on');
  const key = (await server.run('key', 'create', ...place, '--name', 'check')).trim();
  const headers = { 'X-Service-Key': key };
  const read = await fetch(`${server.url}/v1/flags/new-checkout?env=production`, { headers });
  expect('the flag', await read.text(), '{"environment":"production","key":"new-checkout","enabled":true}');
  const stream = await openSse(`${server.url}/v1/stream?env=production`, { headers });
  expect('the first frame', (await stream.nextFrame()).data, '{"new-checkout":{"enabled":true}}');
  await server.run('flag', 'set', 'new-checkout', ...place, '--off');
  expect('the second frame', (await stream.nextFrame()).data, '{"new-checkout":{"enabled":false}}');
  stream.close();
  await server.run('doctor', '--key', key);
}

/** Enough flags for the thread of long lists and imports. */
async function checkLongLists(server: ServingExecutable, folder: string): Promise<void> {
  const flags = Object.fromEntries(
    Array.from({ length: 2000 }, (_, index) => [`flag-${index}`, { description: 'one of many flags' }]),
  );
  await Bun.write(
    join(folder, 'many.json'),
    JSON.stringify({ halyard: 1, project: 'many', environments: [], flags }),
  );
  await server.run('import', 'many.json');
  const listed = await server.run('flag', 'list', '--project', 'many', '--json');
  expect('the number of flags', listed.match(/one of many flags/g)?.length, 2000);
}

async function checkDocuments(server: ServingExecutable): Promise<void> {
  for (const page of PAGES) {
    const response = await fetch(`${server.url}${page}`, { headers: { Accept: 'text/html, */*' } });
    expect(`the status of ${page}`, response.status, 200);
    if ((await response.text()).length < 500) throw new Error(`${page} is nearly empty`);
  }
  const document: unknown = JSON.parse(await server.run('openapi'));
  expect(
    'the OpenAPI document',
    typeof document === 'object' && document !== null && 'paths' in document,
    true,
  );
}

/** Every file that the dashboard's page names must be there. */
async function checkDashboard(server: ServingExecutable): Promise<void> {
  const page = await (await fetch(`${server.url}/`)).text();
  const files = [...page.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, path = '']) => path);
  expect('whether the dashboard names its files', files.length > 3, true);
  for (const file of files) {
    expect(`the status of ${file}`, (await fetch(`${server.url}${file}`)).status, 200);
  }
}

function expect(what: string, seen: unknown, wanted: unknown): void {
  if (seen !== wanted)
    throw new Error(`${what} is ${JSON.stringify(seen)} instead of ${JSON.stringify(wanted)}`);
}
