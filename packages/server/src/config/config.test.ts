import { afterAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseGroupRole } from '../domain/sso.ts';
import { ConfigError, type ConfigSource, parseConfig, resolveSettings } from './config.ts';
import { coresAllowed } from './setting-readers.ts';

const folder = mkdtempSync(join(tmpdir(), 'halyard-config-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function parse(source: Partial<ConfigSource>) {
  return parseConfig({ flags: {}, env: {}, ...source });
}

function problemsOf(source: Partial<ConfigSource>): readonly string[] {
  try {
    parse(source);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

function fileWith(text: string): string {
  const path = join(folder, crypto.randomUUID());
  writeFileSync(path, text);
  return path;
}

describe('parseConfig', () => {
  test('returns the defaults, without settings that are off', () => {
    expect(parse({})).toEqual({
      port: 7070,
      host: '127.0.0.1',
      data: './halyard-data',
      databasePoolSize: 4,
      bare: false,
      webhooks: true,
      trustProxy: false,
      oidcGroupClaim: 'groups',
      oidcScopes: 'openid profile email',
      oidcTrustEmail: false,
      oidcLabel: 'SSO',
      oidcOnly: false,
      oidcSessionMinutes: 720,
      oidcIdleMinutes: 720,
      oidcAbsenceDays: 30,
      maxQueuedBytes: 1024 * 1024,
      drainSeconds: 10,
      workers: 1,
      reusePort: false,
      logLevel: 'info',
      logFormat: 'json',
    });
  });

  test('returns a frozen record', () => {
    const config = parse({ env: { HALYARD_CORS_ORIGINS: 'https://a.example,https://b.example' } });
    expect(Object.isFrozen(config)).toBe(true);
    expect(Object.isFrozen(config.corsOrigins)).toBe(true);
  });

  test('prefers a flag to its variable, and that to the default', () => {
    expect(parse({ env: { HALYARD_PORT: '8000' } }).port).toBe(8000);
    expect(parse({ flags: { port: '9000' }, env: { HALYARD_PORT: '8000' } }).port).toBe(9000);
    expect(parse({ flags: { bare: false }, env: { HALYARD_BARE: 'true' } }).bare).toBe(false);
  });

  test('ignores an invalid variable that a flag overrides', () => {
    expect(parse({ flags: { port: '9000' }, env: { HALYARD_PORT: 'nonsense' } }).port).toBe(9000);
  });

  test('counts an empty variable as unset', () => {
    expect(parse({ env: { HALYARD_PORT: '', HALYARD_DATABASE_URL: '' } })).toEqual(parse({}));
  });

  test('turns off with "off" what a variable has turned on', () => {
    expect(parse({ flags: { rateLimit: 'off' }, env: { HALYARD_RATE_LIMIT: '50' } })).toEqual(parse({}));
  });

  test('chooses pretty logs for a terminal by default', () => {
    expect(parse({ isTerminal: true }).logFormat).toBe('pretty');
    expect(parse({ isTerminal: true, flags: { logFormat: 'json' } }).logFormat).toBe('json');
    expect(parse({ env: { HALYARD_LOG_FORMAT: 'pretty' } }).logFormat).toBe('pretty');
  });

  test('reports every invalid setting at once, with a valid value', () => {
    const source = {
      flags: { port: '70000', drainSeconds: '-1' },
      env: { HALYARD_LOG_LEVEL: 'loud', HALYARD_DATABASE_URL: 'mysql://u:hunter2@db/x' },
    };
    expect(problemsOf(source)).toEqual([
      '--port must be a whole number from 0 to 65535, not "70000".',
      'HALYARD_DATABASE_URL must be an address such as postgres://user:password@host:5432/database.',
      '--drain-seconds must be a whole number from 0 to 3600, not "-1".',
      'HALYARD_LOG_LEVEL must be one of trace, debug, info, warn, error, fatal, silent, not "loud".',
    ]);
    expect(() => parse(source)).toThrow(/^4 settings are invalid:\n {2}- --port must/);
  });

  test('refuses an address to follow without the database that it belongs to', () => {
    expect(problemsOf({ env: { HALYARD_DATABASE_FOLLOW_URL: 'postgres://standby/x' } })).toEqual([
      'HALYARD_DATABASE_FOLLOW_URL needs HALYARD_DATABASE_URL, where changes are written.',
    ]);
  });

  test('never repeats a secret in a problem', () => {
    const env = {
      HALYARD_ADMIN_TOKEN: 'short',
      HALYARD_DATABASE_URL: 'hunter2',
      HALYARD_METRICS_TOKEN: 'tiny one',
    };
    const text = problemsOf({ env }).join();
    expect(text).toContain('HALYARD_ADMIN_TOKEN must be at least 16');
    for (const secret of Object.values(env)) expect(text).not.toContain(secret);
  });

  test('reads secrets from files, without the line feed at their end', () => {
    const env = {
      HALYARD_ADMIN_TOKEN_FILE: fileWith('hat_0123456789abcdef\n'),
      HALYARD_DATABASE_URL_FILE: fileWith('postgres://u:p@db/x\n'),
    };
    expect(parse({ env })).toMatchObject({
      adminToken: 'hat_0123456789abcdef',
      databaseUrl: 'postgres://u:p@db/x',
    });
    expect(parse({ flags: { metricsTokenFile: fileWith('0123456789abcdef') } }).metricsToken).toBe(
      '0123456789abcdef',
    );
  });

  test('rejects a secret that is set twice, or whose file is missing or empty', () => {
    const env = { HALYARD_ADMIN_TOKEN: 'hat_0123456789abcdef', HALYARD_ADMIN_TOKEN_FILE: '/x' };
    expect(problemsOf({ env })).toEqual([
      'HALYARD_ADMIN_TOKEN and HALYARD_ADMIN_TOKEN_FILE are both set: keep one of them.',
    ]);
    const missing = join(folder, 'missing');
    expect(problemsOf({ env: { HALYARD_DATABASE_URL_FILE: missing } })).toEqual([
      `HALYARD_DATABASE_URL_FILE is ${JSON.stringify(missing)}, which cannot be read.`,
    ]);
    expect(problemsOf({ env: { HALYARD_ADMIN_TOKEN_FILE: fileWith(' \n') } })[0]).toContain('which is empty');
  });

  test('rejects a management port that is the main port', () => {
    expect(problemsOf({ flags: { managementPort: '7070' } })).toEqual([
      '--management-port is already the main port: choose another one, or leave it out.',
    ]);
    expect(problemsOf({ flags: { managementPort: '7070', managementHost: '10.0.0.1' } })).toEqual([]);
    expect(problemsOf({ flags: { managementPort: '0', port: '0' } })).toEqual([]);
    expect(problemsOf({ flags: { managementHost: '10.0.0.1' } })).toEqual([
      '--management-host needs --management-port.',
    ]);
  });
});

describe('the text of a setting', () => {
  const accepted: readonly [
    variable: string,
    text: string,
    member: keyof ReturnType<typeof parse>,
    value: unknown,
  ][] = [
    ['HALYARD_MAX_QUEUED_BYTES', '512KiB', 'maxQueuedBytes', 524_288],
    ['HALYARD_MAX_QUEUED_BYTES', '2 mib', 'maxQueuedBytes', 2_097_152],
    ['HALYARD_BARE', 'yes', 'bare', true],
    ['HALYARD_BARE', '0', 'bare', false],
    ['HALYARD_HOST', '::', 'host', '::'],
    ['HALYARD_HOST', 'flags.internal', 'host', 'flags.internal'],
    ['HALYARD_DOCS_URL', 'https://docs.example.com/flags/', 'docsUrl', 'https://docs.example.com/flags'],
    [
      'HALYARD_CORS_ORIGINS',
      'https://a.example, http://localhost:5173',
      'corsOrigins',
      ['https://a.example', 'http://localhost:5173'],
    ],
    [
      'HALYARD_DATABASE_URL',
      'postgresql://db/x?sslmode=verify-full',
      'databaseUrl',
      'postgresql://db/x?sslmode=verify-full',
    ],
    [
      'HALYARD_DATABASE_URL',
      'postgres://u:p@a:5432,b:5433/x?target_session_attrs=read-write',
      'databaseUrl',
      'postgres://u:p@a:5432,b:5433/x?target_session_attrs=read-write',
    ],
  ];
  for (const [variable, text, member, value] of accepted) {
    test(`${variable}=${text} is accepted`, () => {
      expect<unknown>(parse({ env: { [variable]: text } })[member]).toEqual(value);
    });
  }

  const refused: readonly [variable: string, text: string][] = [
    ['HALYARD_PORT', '7070.5'],
    ['HALYARD_PORT', '0x10'],
    ['HALYARD_HOST', 'http://127.0.0.1'],
    ['HALYARD_HOST', '127.0.0.1:80'],
    ['HALYARD_MAX_QUEUED_BYTES', '1MB'],
    ['HALYARD_MAX_QUEUED_BYTES', '10'],
    ['HALYARD_BARE', 'maybe'],
    ['HALYARD_DOCS_URL', 'ftp://docs.example.com'],
    ['HALYARD_DOCS_URL', 'https://docs.example.com?x=1'],
    ['HALYARD_CORS_ORIGINS', 'https://a.example/path'],
    ['HALYARD_CORS_ORIGINS', 'a.example'],
    ['HALYARD_RATE_LIMIT', '0'],
    ['HALYARD_OIDC_ISSUER', 'http://id.example.com'],
    ['HALYARD_OIDC_ISSUER', 'https://id.example.com/?x=1'],
    ['HALYARD_OIDC_ROLES', 'admins=administrator'],
    ['HALYARD_OIDC_ROLES', 'admins=admin,,devs=editor'],
    ['HALYARD_OIDC_ROLES', '=admin'],
    ['HALYARD_OIDC_ROLES', 'devs=editor@Shop'],
    ['HALYARD_OIDC_DEFAULT_ROLE', 'owner'],
    ['HALYARD_OIDC_SCOPES', 'profile email'],
    ['HALYARD_OIDC_EMAIL_DOMAINS', '@example.com'],
    ['HALYARD_PORT', 'off'],
  ];
  for (const [variable, text] of refused) {
    test(`${variable}=${text} is rejected`, () => {
      const [problem = ''] = problemsOf({ env: { [variable]: text } });
      expect(problem).toStartWith(`${variable} must be `);
      expect(problem).toEndWith(`, not ${JSON.stringify(text)}.`);
    });
  }
});

test('workers are counted, or one per core, within the limit of the container', () => {
  expect(parse({ env: { HALYARD_WORKERS: '3' } }).workers).toBe(3);
  expect(parse({ env: { HALYARD_WORKERS: 'auto' } }).workers).toBeWithin(1, 65);
  expect(problemsOf({ env: { HALYARD_WORKERS: '0' } })).toEqual([
    'HALYARD_WORKERS must be a whole number from 1 to 64, or auto, not "0".',
  ]);
  expect(['200000 100000', '150000 100000\n', '50000 100000', 'max 100000'].map(coresAllowed)).toEqual([
    2,
    2,
    1,
    Number.POSITIVE_INFINITY,
  ]);
});

test('an invalid password is not reported as missing', () => {
  const env = { HALYARD_ADMIN_EMAIL: 'ada@example.com', HALYARD_ADMIN_PASSWORD: 'short' };
  expect(resolveSettings({ flags: {}, env }).problems).toEqual([
    expect.stringMatching(/^HALYARD_ADMIN_PASSWORD must be 12 to 200 characters/),
  ]);
  expect(resolveSettings({ flags: {}, env: { ...env, HALYARD_ADMIN_PASSWORD: '' } }).problems).toEqual([
    'HALYARD_ADMIN_EMAIL needs HALYARD_ADMIN_PASSWORD: set both or neither.',
  ]);
});

describe('single sign-on', () => {
  const base = {
    HALYARD_OIDC_ISSUER: 'https://id.example.com',
    HALYARD_OIDC_CLIENT_ID: 'halyard',
    HALYARD_OIDC_SCOPES: 'groups  openid',
    HALYARD_OIDC_LABEL: ' Example ID ',
    HALYARD_OIDC_ROLES: 'flags-admins=admin, CN=Devs\\,OU=Team=editor+protected, a@b=viewer@shop',
  };

  test('reads its settings', () => {
    const config = parse({
      env: {
        ...base,
        HALYARD_OIDC_CLIENT_SECRET_FILE: fileWith('secret of the client\n'.replaceAll(' ', '-')),
      },
    });
    expect(config).toMatchObject({
      oidcIssuer: 'https://id.example.com/',
      oidcScopes: 'groups openid',
      oidcLabel: 'Example ID',
      oidcClientSecret: 'secret-of-the-client',
      oidcRoles: ['flags-admins=admin', 'CN=Devs\\,OU=Team=editor+protected', 'a@b=viewer@shop'],
    });
    expect(config.oidcRoles?.map(parseGroupRole)).toEqual([
      { group: 'flags-admins', role: 'admin' },
      { group: 'CN=Devs,OU=Team', role: 'editor+protected' },
      { group: 'a@b', role: 'viewer', project: 'shop' },
    ]);
    for (const url of ['http://localhost:8080/realms/x', 'http://127.0.0.1:1', 'http://[::1]:1']) {
      expect(parse({ env: { ...base, HALYARD_OIDC_ISSUER: url } }).oidcIssuer).toStartWith(url);
    }
  });

  test.each<[env: Readonly<Record<string, string>>, problem: string]>([
    [{ HALYARD_OIDC_ISSUER: '' }, 'HALYARD_OIDC_CLIENT_ID needs HALYARD_OIDC_ISSUER'],
    [{ HALYARD_OIDC_CLIENT_ID: '' }, 'HALYARD_OIDC_ISSUER needs HALYARD_OIDC_CLIENT_ID.'],
    [{ HALYARD_OIDC_ROLES: '' }, 'HALYARD_OIDC_ISSUER needs HALYARD_OIDC_ROLES or HALYARD_OIDC_DEFAULT_ROLE'],
    [
      { HALYARD_OIDC_ISSUER: 'https://accounts.google.com', HALYARD_OIDC_DEFAULT_ROLE: 'viewer' },
      'HALYARD_OIDC_DEFAULT_ROLE needs HALYARD_OIDC_EMAIL_DOMAINS: anyone can have a Google account.',
    ],
  ])('with %j it is refused', (env, problem) => {
    expect(problemsOf({ env: { ...base, ...env } })[0]).toStartWith(problem);
  });

  test('never repeats the client secret', () => {
    const env = { ...base, HALYARD_OIDC_CLIENT_SECRET: 'hunter2 hunter2' };
    expect(problemsOf({ env }).join()).not.toContain('hunter2');
  });
});

test('a public address with a path is refused, because the dashboard works only at the root', () => {
  expect(() => parse({ env: { HALYARD_PUBLIC_URL: 'https://x.example/halyard' } })).toThrow('without a path');
  expect(parse({ env: { HALYARD_PUBLIC_URL: 'https://x.example/' } }).publicUrl).toBe('https://x.example');
});
