import { afterAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError } from './config.ts';
import { resolveConnection } from './connection.ts';

const data = mkdtempSync(join(tmpdir(), 'halyard-data-'));
writeFileSync(join(data, 'admin-token'), 'from-folder\n');
afterAll(() => rmSync(data, { recursive: true, force: true }));

test('uses the server on this machine unless a flag or a variable names another', () => {
  expect(resolveConnection({}, {}).url).toBe('http://127.0.0.1:7070');
  const env = { HALYARD_URL: 'https://flags.example.com/' };
  expect(resolveConnection({}, env).url).toBe('https://flags.example.com');
  expect(resolveConnection({ url: 'http://10.0.0.1:80/base/' }, env).url).toBe('http://10.0.0.1/base');
});

test.each([
  [{ HALYARD_PORT: '8080' }, ['http://127.0.0.1:8080', 'http://127.0.0.1:8080']],
  [{ HALYARD_HOST: '0.0.0.0', HALYARD_PORT: '0' }, ['http://127.0.0.1:7070', 'http://127.0.0.1:7070']],
  [{ HALYARD_HOST: '::1' }, ['http://[::1]:7070', 'http://[::1]:7070']],
  [{ HALYARD_MANAGEMENT_PORT: '7071' }, ['http://127.0.0.1:7071', 'http://127.0.0.1:7070']],
  [
    { HALYARD_HOST: '10.0.0.1', HALYARD_MANAGEMENT_HOST: '127.0.0.2', HALYARD_MANAGEMENT_PORT: '7071' },
    ['http://127.0.0.2:7071', 'http://10.0.0.1:7070'],
  ],
  [{ HALYARD_URL: 'http://a:1', HALYARD_MANAGEMENT_PORT: '7071' }, ['http://a:1', 'http://a:1']],
])('a server on this machine is found by its own settings: %j', (env, addresses) => {
  const { url, readUrl } = resolveConnection({}, env);
  expect([url, readUrl]).toEqual(addresses);
});

test('rejects an unusable address, and says which one would work', () => {
  expect(() => resolveConnection({ url: 'flags.example.com' }, {})).toThrow(ConfigError);
  expect(() => resolveConnection({}, { HALYARD_URL: 'nonsense' })).toThrow('HALYARD_URL must be an http://');
});

test.each(['http://ada:hunter2@h', 'http://ada:hun/ter2@h', 'http://hunter2@h', 'ada:hunter2@h'])(
  'an address with credentials is refused without repeating them: %s',
  (url) => {
    const refused = () => resolveConnection({ url }, {});
    expect(refused).toThrow('without a query or credentials, not "');
    expect(refused).toThrow(/^(?!.*ter2).*\[redacted\]@h"/);
  },
);

test('the token comes from the options, then the variables, then the data folder of the settings', () => {
  const env = { HALYARD_TOKEN: 'own', HALYARD_ADMIN_TOKEN: 'admin', HALYARD_DATA: data };
  expect(resolveConnection({ token: 'flag' }, env).token).toBe('flag');
  expect(resolveConnection({}, env).token).toBe('own');
  expect(resolveConnection({}, { ...env, HALYARD_TOKEN: '' }).token).toBe('admin');
  expect(resolveConnection({}, { HALYARD_DATA: data }).token).toBe('from-folder');
  expect(resolveConnection({ data }, env).token).toBe('from-folder');
  expect(resolveConnection({ data, token: 'flag' }, env).token).toBe('flag');
  expect(resolveConnection({}, { HALYARD_TOKEN_FILE: join(data, 'admin-token') }).token).toBe('from-folder');
});

test.each([
  [{ token: 'flag', data }, {}, '--token'],
  [{ data }, { HALYARD_TOKEN: 'own' }, join(data, 'admin-token')],
  [{}, { HALYARD_TOKEN: 'own' }, 'HALYARD_TOKEN'],
  [{}, { HALYARD_ADMIN_TOKEN_FILE: join(data, 'admin-token') }, 'HALYARD_ADMIN_TOKEN_FILE'],
])('says where the token comes from: %j %j', (flags, env: Readonly<Record<string, string>>, origin) => {
  expect(resolveConnection(flags, env).tokenOrigin).toBe(origin);
});

test('does not send the token of the default folder to another machine', () => {
  const before = process.cwd();
  const home = mkdtempSync(join(tmpdir(), 'halyard-home-'));
  try {
    process.chdir(home);
    Bun.spawnSync(['mkdir', 'halyard-data']);
    writeFileSync(join('halyard-data', 'admin-token'), 'implicit');
    expect(resolveConnection({}, {}).token).toBe('implicit');
    expect(resolveConnection({ url: 'http://localhost:9' }, {}).token).toBe('implicit');
    expect(resolveConnection({ url: 'https://flags.example.com' }, {}).token).toBeUndefined();
    expect(resolveConnection({ url: 'https://127.0.0.1.example.com' }, {}).token).toBeUndefined();
    expect(resolveConnection({ url: 'https://flags.example.com', data: 'halyard-data' }, {}).token).toBe(
      'implicit',
    );
  } finally {
    process.chdir(before);
    rmSync(home, { recursive: true, force: true });
  }
});

test('reports an unreadable token file', () => {
  expect(() => resolveConnection({}, { HALYARD_TOKEN_FILE: join(data, 'missing') })).toThrow(
    'HALYARD_TOKEN_FILE is',
  );
});

test('reports a data folder without a token', () => {
  const missing = join(data, 'missing');
  const problem = `No access token found in ${missing}/admin-token.`;
  expect(resolveConnection({ data: missing }, {}).tokenProblem).toBe(problem);
  expect(resolveConnection({}, { HALYARD_DATA: missing }).tokenProblem).toBe(problem);
  expect(resolveConnection({ data }, {}).tokenProblem).toBeUndefined();
  expect(resolveConnection({ data: missing, token: 'flag' }, {}).tokenProblem).toBeUndefined();
  expect(resolveConnection({ data: missing }, { HALYARD_TOKEN: 'own' }).tokenProblem).toBe(problem);
});
