import { expect, test } from 'bun:test';
import { ERROR_CODES, ERROR_STATUS, type ErrorCode, EVALUATION_ERRORS } from '@halyard/protocol';
import { expectError, expectErrorText } from './expectations.ts';
import { conformance } from './subject.ts';
import { World } from './world.ts';

/** A request that provokes each code that can be provoked on a healthy node with default settings. */
const PROVOCATIONS: readonly (readonly [ErrorCode, (world: World) => Promise<Response>])[] = [
  ['invalid_api_key', (world) => fetch(`${world.url}/v1/flags?env=production`)],
  ['invalid_argument', (world) => world.fetch('/v1/flags')],
  ['environment_not_found', (world) => world.fetch('/v1/flags?env=nowhere')],
  ['flag_not_found', (world) => world.fetch('/v1/flags/none?env=production')],
  ['not_found', (world) => world.fetch('/v1/nothing')],
  ['method_not_allowed', (world) => world.fetch('/v1/flags?env=production', { method: 'DELETE' })],
  ['invalid_access_token', (world) => fetch(`${world.url}/api/projects`)],
  ['project_not_found', (world) => world.manage('GET', '/api/projects/none')],
  ['key_not_found', (world) => world.manage('DELETE', '/api/keys/none')],
  ['already_exists', (world) => world.manage('POST', '/api/projects', { name: world.project })],
  [
    'revision_conflict',
    (world) =>
      world.manage(
        'PUT',
        `/api/projects/${world.project}/environments/production/flags/flag`,
        { enabled: true },
        { 'If-Match': '"999999"' },
      ),
  ],
];

conformance('7. Errors', (subject) => {
  for (const [code, provoke] of PROVOCATIONS) {
    test(`S7.1 S7.2 S7.3 ${code}: status, body, and a page behind its docs link`, async () => {
      const world = await World.make(subject(), { flag: { enabled: false } });
      const docs = await expectError(await provoke(world), code);

      const page = await fetch(docs, { headers: { Accept: 'text/html' } });
      expect(page.status).toBe(200);
      expect(page.headers.get('Content-Type')).toStartWith('text/html');
      expect(await page.text()).toContain(code);

      const data = await fetch(docs, { headers: { Accept: 'application/json' } });
      expect(data.status).toBe(200);
      expect(await data.json()).toMatchObject({
        error: code,
        status: ERROR_STATUS[code],
        title: expect.any(String),
        cause: expect.any(String),
        fix: expect.any(String),
      });
    });
  }

  test('S7.1 the stream endpoint rejects with the same JSON body', async () => {
    const world = await World.make(subject());
    for (const [path, key, code] of [
      ['/v1/stream?env=production', 'wrong', 'invalid_api_key'],
      ['/v1/stream', world.key, 'invalid_argument'],
      ['/v1/stream?env=nowhere', world.key, 'environment_not_found'],
    ] as const) {
      const answer = await world.raw(path, {
        headers: [
          ['X-Service-Key', key],
          ['Accept', 'text/event-stream'],
        ],
      });
      expectErrorText(answer, answer.text, code, path);
    }
  });

  test('S7.2 the codes of the evaluation interface are these six', () => {
    expect(EVALUATION_ERRORS).toEqual({
      invalid_api_key: 401,
      invalid_argument: 400,
      environment_not_found: 404,
      flag_not_found: 404,
      rate_limited: 429,
      internal_error: 500,
    });
  });

  test('S7.3 every code has a page, even those that a healthy node does not send', async () => {
    const world = await World.make(subject());
    const docs = await expectError(await world.fetch('/v1/flags'), 'invalid_argument');
    for (const code of ERROR_CODES) {
      const page = await fetch(docs.replace(/invalid_argument$/, code), {
        headers: { Accept: 'application/json' },
      });
      expect(page.status).toBe(200);
      expect(await page.json()).toMatchObject({ error: code, status: ERROR_STATUS[code] });
    }
    const none = await fetch(docs.replace(/invalid_argument$/, 'no_such_code'), {
      headers: { Accept: 'application/json' },
    });
    await expectError(none, 'not_found');
  });
});
