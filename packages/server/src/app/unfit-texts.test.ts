import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { openTestApp, type TestApp, type TestRequest } from '../management/api/test-app.ts';
import { ENGINES } from '../storage/test-engines.ts';

setDefaultTimeout(60_000);

/** Texts that JSON can carry and no database of ours would give back as they are. */
const TEXTS = [
  ['U+0000', 'x\u0000y'],
  ['a high surrogate alone', 'x\ud800y'],
  ['a low surrogate alone', '\udc00'],
] as const;

type Call = readonly [method: string, path: string, request: TestRequest];

/** Requests that carry a text of the caller to a statement, early or at the end of the transaction. */
const CALLS: Readonly<Record<string, (text: string, path: string, at: number) => Call>> = {
  'the note of a change of flags': (note, path) => [
    'POST',
    `${path}/environments/staging/changes`,
    { body: { note, changes: [{ key: 'f', state: { enabled: true } }] } },
  ],
  'the note of a schedule': (note, path, at) => [
    'POST',
    `${path}/schedules`,
    {
      body: {
        environment: 'staging',
        dueAt: new Date(at + 3_600_000).toISOString(),
        changes: [{ key: 'f', state: { enabled: true } }],
        note,
      },
    },
  ],
  'the note of a rollout plan': (note, path) => [
    'POST',
    `${path}/rollouts`,
    { body: { environment: 'staging', flag: 'f', steps: [{ rolloutPct: 10 }], note } },
  ],
  'the description of a flag': (description, path) => [
    'POST',
    `${path}/flags`,
    { body: { key: 'g', description } },
  ],
  'a tag of a flag': (tag, path) => ['PATCH', `${path}/flags/f`, { body: { tags: [tag] } }],
  'the name of a project': (name) => ['POST', '/api/projects', { body: { name } }],
  'the name of a key': (name, path) => [
    'POST',
    `${path}/keys`,
    { body: { name, environments: ['staging'] } },
  ],
  'the name of an access token': (name) => ['POST', '/api/tokens', { body: { name } }],
  'the name of a relay token': (name) => ['POST', '/api/relay-tokens', { body: { name } }],
  'the address of an invitation': (text) => [
    'POST',
    '/api/invitations',
    { body: { email: `a${text}@example.com`, role: 'viewer' } },
  ],
  'an imported description': (description) => [
    'POST',
    '/api/import',
    { body: { halyard: 1, project: 'new', environments: ['staging'], flags: { f: { description } } } },
  ],
};

describe.each(ENGINES)('a text that cannot be stored ($name)', (engine) => {
  let app: TestApp;
  let path: string;
  beforeAll(async () => {
    app = await openTestApp(engine);
    ({ path } = await app.project());
    await app.call('POST', `${path}/flags`, { body: { key: 'f' } });
  });
  afterAll(() => app.close());

  describe.each(Object.entries(CALLS))('as %s', (_what, call) => {
    test.each(TEXTS)('with %s is refused as the error of its caller', async (_name, text) => {
      const before = await app.call('GET', '/api/audit');
      const { status, json } = await app.call(...call(text, path, app.node.now));
      expect({ status, error: json.error }).toEqual({ status: 400, error: 'invalid_argument' });
      expect((await app.call('GET', '/api/audit')).json).toEqual(before.json);
    });
  });

  test('in a path or a query is refused as well', async () => {
    const answers = await Promise.all([
      app.call('GET', '/api/projects/a%00b'),
      app.call('GET', '/api/audit?q=a%00b'),
      app.call('GET', '/api/search?q=a%00b'),
    ]);
    expect(answers.map(({ status, json }) => [status, json.error])).toEqual(
      answers.map(() => [400, 'invalid_argument']),
    );
  });

  test('leaves no failure in the log', () => {
    expect(app.logged).toEqual([]);
  });
});
