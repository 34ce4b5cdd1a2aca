import { expect, test } from 'bun:test';
import { resolve } from 'node:path';
import { parseConfig } from '../config/config.ts';
import { type BannerFacts, firstStartLines, firstSteps, longBanner } from './banner.ts';

const KEY = 'proj_live_example';
const FIRST_START = { project: 'demo', environment: 'development', key: KEY };

function facts(flags: Record<string, string>, url: string, managementUrl = url): BannerFacts {
  return {
    version: '1.2.3',
    invocation: 'halyard',
    url,
    managementUrl,
    dashboardUrl: managementUrl,
    config: parseConfig({ flags, env: {} }),
    firstStart: FIRST_START,
    isReady: true,
    needsOperator: false,
  };
}

test('shows a person the key and commands to copy', () => {
  const banner = longBanner(facts({}, 'http://127.0.0.1:7070'));
  expect(banner).toContain('Halyard 1.2.3 is running at http://127.0.0.1:7070\n');
  expect(banner).toContain(
    `    curl 'http://127.0.0.1:7070/v1/flags?env=development' -H 'X-Service-Key: ${KEY}'\n`,
  );
  expect(banner).toContain(
    `    curl -N 'http://127.0.0.1:7070/v1/stream?env=development' -H 'X-Service-Key: ${KEY}'\n`,
  );
  expect(banner).toContain('    halyard flag set new-checkout --project demo --env development --on\n');
  expect(banner).toContain('in ./halyard-data/admin-token\n');
  expect(banner).not.toContain('export');
});

test('the command in the banner names a server at another address', () => {
  const banner = longBanner(facts({ port: '8000', data: '/srv/flags' }, 'http://127.0.0.1:8000'));
  expect(banner).toContain("--env development --on --url http://127.0.0.1:8000 --data '/srv/flags'\n");
  const relative = longBanner(facts({ port: '8000', data: '../other data' }, 'http://127.0.0.1:8000'));
  expect(relative).toContain(`HALYARD_DATA='${resolve('../other data')}'\n`);
  // For all commands that follow.
  expect(banner).toContain("export HALYARD_URL=http://127.0.0.1:8000 HALYARD_DATA='/srv/flags'\n");
});

test.each([
  [{ managementPort: '7071' }, 'http://127.0.0.1:7071', '--url http://127.0.0.1:7071'],
  [{ host: '::1' }, 'http://[::1]:7070', '--url http://[::1]:7070'],
  [
    { host: '10.0.0.5' },
    'http://10.0.0.5:7070',
    `--url http://10.0.0.5:7070 --data '${resolve('halyard-data')}'`,
  ],
  [{ data: "/srv/it's" }, 'http://127.0.0.1:7070', "--data '/srv/it'\\''s'"],
])('with %j the command in the banner reaches the management API of this node', (flags, url, options) => {
  const banner = longBanner(facts(flags, 'http://127.0.0.1:7070', url));
  expect(banner).toContain(`--env development --on ${options}\n`);
});

test('shows no key on a later start', () => {
  const { firstStart: _, ...later } = facts({}, 'http://127.0.0.1:7070');
  expect(longBanner(later)).not.toContain('curl');
  expect(firstStartLines(later)).toBe('');
  expect(firstSteps(later)).toEqual([]);
});

test('prints one line for each part when the database is late', () => {
  const lines = firstStartLines(facts({}, 'http://127.0.0.1:7070')).split('\n');
  expect(lines).toEqual([
    `Key of project "demo" (not shown again): ${KEY}`,
    `Read its flags: curl 'http://127.0.0.1:7070/v1/flags?env=development' -H 'X-Service-Key: ${KEY}'`,
    `Watch them change: curl -N 'http://127.0.0.1:7070/v1/stream?env=development' -H 'X-Service-Key: ${KEY}'`,
    'Change one in another terminal: halyard flag set new-checkout --project demo --env development --on',
    '',
  ]);
});

test('logs the commands that print the secrets, but no secret', () => {
  const { firstStart: _, ...bare } = facts({ data: '/data' }, 'http://127.0.0.1:7070');
  const firstStart = { project: 'demo', environment: 'development' };
  const steps = firstSteps({ ...bare, firstStart, needsOperator: true });
  expect(steps).toEqual([
    'no operator exists yet (operators sign in to the dashboard): to print a link for the first administrator, ' +
      "run: halyard operator invite <email> --role admin --data '/data'",
    'created a demo project: to print a key that reads its flags, ' +
      "run: halyard key create --project demo --env development --name first --data '/data'",
  ]);
});

test('a database URL is not shown', () => {
  const banner = longBanner(facts({ databaseUrl: 'postgres://u:hunter2@db/x' }, 'http://127.0.0.1:7070'));
  expect(banner).toContain('PostgreSQL');
  expect(banner).not.toContain('hunter2');
});

test('shows a person the setup link while no operator exists', () => {
  const setupLink = 'http://127.0.0.1:7070/setup#hin_example';
  const first = { ...facts({}, 'http://127.0.0.1:7070'), setupLink };
  expect(longBanner(first)).toContain('  Dashboard       http://127.0.0.1:7070/\n');
  expect(longBanner(first)).toContain(`\n    ${setupLink}\n`);
  expect(firstStartLines(first)).toContain(`: ${setupLink}\n`);
  expect(longBanner(facts({}, 'http://127.0.0.1:7070'))).not.toContain('/setup');
});
