import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { within } from '@halyard/testing';
import { openTestApp, type TestApp, type TestOperation } from '../management/api/test-app.ts';
import { join, ORIGIN, PASSWORD, TestBrowser } from '../management/api/test-browser.ts';
import { readAccessTokens, storeRevocation } from '../nouns/access-tokens/access-token-table.ts';
import type { Operator } from '../nouns/people/operator.ts';
import { readOperatorByEmail, removeOperator, storeOperator } from '../nouns/people/operator-table.ts';
import { removeSessionsOf } from '../nouns/people/session-table.ts';
import { SESSION_COOKIE } from '../nouns/people/sessions.ts';
import { insertProject } from '../nouns/projects/project-table.ts';
import { SqlStore } from '../storage/store.ts';
import { ENGINES } from '../storage/test-engines.ts';
import { ADA, makeProject } from '../storage/test-records.ts';
import type { Tx } from '../storage/tx.ts';
import { CALLS, makePlace, OTHERS } from './test-calls.ts';

setDefaultTimeout(60_000);

const STATE = { enabled: true };

let app: TestApp;
let count = 0;

/** The operations that require authentication and may change something. */
async function operations(): Promise<readonly TestOperation[]> {
  const all = await app.operations();
  return all.filter(
    ({ method, described }) => method !== 'GET' && described['x-role'] !== 'anyone' && described['x-role'],
  );
}

async function endOfLog(): Promise<number> {
  const [row] = await app.home.database.query<{ seq: number }>('SELECT seq FROM feed');
  return row?.seq ?? -1;
}

/** An access token of an administrator, with what revokes it. */
async function token(): Promise<{ readonly text: string; readonly revoke: () => Promise<void> }> {
  const body = { name: `caller-${++count}`, role: 'admin' };
  const { id, token: text } = await app.done('POST', '/api/tokens', { body });
  return { text, revoke: () => app.done('DELETE', `/api/tokens/${id}`) };
}

/** A request whose head has been read and whose body is on its way. */
interface Begun {
  readonly answer: Promise<Response>;
  readonly finish: () => void;
}

/** Sends the head of a request and the first byte of a body; resolves once the body is being read. */
async function begin({ method, path }: TestOperation, headers: Record<string, string>): Promise<Begun> {
  const asked = Promise.withResolvers<void>();
  const rest = Promise.withResolvers<void>();
  const body = new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        controller.enqueue(Buffer.from('{'));
        asked.resolve();
        await rest.promise;
        controller.enqueue(Buffer.from('}'));
        controller.close();
      },
    },
    { highWaterMark: 0 },
  );
  const url = path.replace('{project}', 'ours').replaceAll(/\{\w+\}/g, 'production');
  const answer = Promise.resolve(
    app.request(url, { method, headers: { 'Content-Type': 'application/json', ...headers }, body }),
  );
  await within(`${method} ${path} reads its body`, Promise.race([asked.promise, answer]));
  return { answer, finish: rest.resolve };
}

/** Sends requests for all these operations, takes the rights away before their bodies end, and returns the answers by id. */
async function answersAfter(
  some: readonly TestOperation[],
  headers: Record<string, string>,
  take: () => Promise<void>,
): Promise<Readonly<Record<string, string>>> {
  const begun = await Promise.all(some.map((each) => begin(each, headers)));
  await take();
  const before = await endOfLog();
  for (const { finish } of begun) finish();
  const answers = await Promise.all(
    begun.map(async ({ answer }, index) => {
      const { status, json } = {
        status: (await answer).status,
        json: (await (await answer).json()) as { error: string },
      };
      return [some[index]?.described.operationId, `${status} ${json.error}`];
    }),
  );
  expect(await endOfLog()).toBe(before);
  return Object.fromEntries(answers);
}

describe.each(ENGINES)('rights that end during a request, on $name', (engine) => {
  beforeAll(async () => {
    app = await openTestApp(engine);
    await app.call('POST', '/api/projects', { body: { name: 'ours' } });
  });
  afterAll(() => app.close());

  const all = (some: readonly TestOperation[], answer: string) =>
    Object.fromEntries(some.map(({ described }) => [described.operationId, answer]));
  const withBody = async () => (await operations()).filter(({ described }) => described.requestBody);

  test('a body that ends after the revocation of its token is refused by every operation', async () => {
    const some = await withBody();
    expect(some.length).toBeGreaterThan(20);
    const { text, revoke } = await token();
    const answers = await answersAfter(some, { Authorization: `Bearer ${text}` }, revoke);
    expect(answers).toEqual(all(some, '401 invalid_access_token'));
  });

  test('so it is when the session ends', async () => {
    const { email, browser } = await join(app, { email: `ended-${++count}@example.com`, role: 'admin' });
    const some = await withBody();
    const headers = { Origin: ORIGIN, Cookie: `__Host-${SESSION_COOKIE}=${browser.id}` };
    const answers = await answersAfter(some, headers, async () => {
      await browser.call('DELETE', '/api/session');
    });
    expect(answers).toEqual(all(some, '401 not_signed_in'));
    expect((await new TestBrowser(app).signIn(email, PASSWORD)).status).toBe(200);
  });

  test('a person whose role in one project was reduced changes nothing there', async () => {
    const rights = (role: string) => ({ projects: [{ project: 'ours', role }] });
    const { id, browser } = await join(app, { email: `less-${++count}@example.com`, ...rights('admin') });
    const some = (await withBody()).filter(({ described }) => described['x-scope'] === 'project');
    const headers = { Origin: ORIGIN, Cookie: `__Host-${SESSION_COOKIE}=${browser.id}` };
    const answers = await answersAfter(some, headers, async () => {
      await app.call('PATCH', `/api/operators/${id}`, { body: rights('viewer') });
    });
    expect(answers).toEqual(all(some, '403 forbidden'));
  });

  test('every operation that changes something has a call here', async () => {
    const ids = (await operations()).map(({ described }) => described.operationId);
    expect(ids.toSorted()).toEqual([...Object.keys(CALLS), ...OTHERS].sort());
  });

  /** Runs `work` once, on another node, just before the next transaction of an operation. */
  function beforeNextCommit(work: (other: SqlStore) => Promise<unknown>): void {
    app.node.beforeCommit = async () => {
      app.node.beforeCommit = async () => {};
      await work(new SqlStore(await app.home.connect()));
    };
  }

  const revoked = (name: string) => (other: SqlStore) =>
    other.commit(ADA, async (tx) => {
      const found = (await readAccessTokens(tx)).find((each) => each.name === name);
      if (found === undefined) throw new Error(`no token ${name}`);
      await storeRevocation(tx, found, Date.now());
    });

  test.each(Object.keys(CALLS))(
    '%s is refused when the token is revoked on another node before its commit',
    async (id) => {
      const operation = (await operations()).find(({ described }) => described.operationId === id);
      const call = await CALLS[id]?.(await makePlace(app, `fresh-${++count}`));
      if (operation === undefined || call === undefined) throw new Error(`no operation ${id}`);
      const caller = await token();
      const name = `caller-${count}`;
      const before = await endOfLog();
      beforeNextCommit(revoked(name));
      const answer = await app.call(operation.method, call.path, { ...call, token: caller.text });
      expect([answer.status, answer.json?.error]).toEqual([401, 'invalid_access_token']);
      // The revocation, and nothing else.
      expect(await endOfLog()).toBe(before + 1);
      const allowed = await app.call(operation.method, call.path, call);
      expect([id, allowed.status < 300, allowed.text]).toEqual([id, true, allowed.text]);
    },
  );

  /** What may happen to a person, and the refusal of a request that was on its way. */
  const ENDINGS = {
    removed: [(tx: Tx, person: Operator) => removeOperator(tx, person), 'not_signed_in'],
    demoted: [(tx: Tx, person: Operator) => storeOperator(tx, { ...person, role: 'viewer' }), 'forbidden'],
    'signed out': [(tx: Tx, person: Operator) => removeSessionsOf(tx, person), 'not_signed_in'],
  } as const;

  test.each(Object.keys(ENDINGS) as (keyof typeof ENDINGS)[])(
    'a person who was %s on another node changes nothing',
    async (how) => {
      const { path } = await app.project();
      const { email, browser } = await join(app, { email: `person-${++count}@example.com`, role: 'admin' });
      const [end, error] = ENDINGS[how];
      const calls = [
        ['PUT', `${path}/environments/staging/flags/a`, { enabled: true }],
        ['POST', '/api/invitations', { email: `friend-${count}@example.com`, role: 'admin' }],
      ] as const;
      for (const [method, at, body] of calls) {
        const before = await endOfLog();
        const person = await app.home.store.read((tx) => readOperatorByEmail(tx, email));
        if (person === undefined) break;
        beforeNextCommit((other) =>
          other.commit(ADA, async (tx) => {
            await end(tx, person);
            await insertProject(tx, makeProject(`ended-${++count}`));
          }),
        );
        expect((await browser.call(method, at, { body })).json.error).toBe(error);
        expect(await endOfLog()).toBe(before + 1);
        await app.home.store.commit(ADA, (tx) => storeOperator(tx, person));
        await browser.signIn(email);
      }
    },
  );

  test('a person whose role in the project was reduced on another node changes nothing there', async () => {
    const { name, path } = await app.project();
    const email = `reduced-${++count}@example.com`;
    const rights = { projects: [{ project: name, role: 'editor' }] };
    const { browser } = await join(app, { email, ...rights });
    const person = await app.home.store.read((tx) => readOperatorByEmail(tx, email));
    if (person?.projects === undefined) throw new Error('the person has no role in the project');
    const projects = person.projects.map((each) => ({ ...each, role: 'viewer' as const }));
    beforeNextCommit((other) => other.commit(ADA, (tx) => storeOperator(tx, { ...person, projects })));
    const answer = await browser.call('PUT', `${path}/environments/staging/flags/a`, { body: STATE });
    expect(answer.json.error).toBe('forbidden');
    expect((await app.call('GET', `${path}/flags`)).json.flags).toEqual([]);
  });

  test('a token that expires before the commit changes nothing', async () => {
    const { path } = await app.project();
    // The request begins an hour ago, and its commit is now.
    const { now } = app.node;
    app.node.now -= 3_600_000;
    const expiresAt = new Date(app.node.now + 60_000).toISOString();
    const { json } = await app.call('POST', '/api/tokens', {
      body: { name: `caller-${++count}`, role: 'admin', expiresAt },
    });
    const before = await endOfLog();
    app.node.beforeCommit = async () => {
      app.node.beforeCommit = async () => {};
      app.node.now = now;
    };
    const at = `${path}/environments/staging/flags/a`;
    const answer = await app.call('PUT', at, { token: json.token, body: STATE });
    expect([answer.status, answer.json.error]).toEqual([401, 'invalid_access_token']);
    expect(await endOfLog()).toBe(before);
  });

  test('other rights of the author are no reason to refuse a change', async () => {
    const { name, path } = await app.project();
    const { name: other } = await app.project();
    const roles = (...projects: string[]) => ({
      projects: projects.map((project) => ({ project, role: 'editor' })),
    });
    const { id, browser } = await join(app, { email: `more-${++count}@example.com`, ...roles(name) });
    let changes = 0;
    const changeRights = () => {
      app.node.beforeCommit = async () => {
        app.node.beforeCommit = async () => {};
        changes++;
        const projects = changes % 2 === 0 ? [name] : [name, other];
        await app.call('PATCH', `/api/operators/${id}`, { body: roles(...projects) });
      };
    };
    changeRights();
    const body = { enabled: true };
    const put = await browser.call('PUT', `${path}/environments/staging/flags/a`, { body });
    expect([put.status, put.json.state]).toEqual([200, body]);
    changeRights();
    const created = await browser.call('POST', `${path}/flags`, { body: { key: 'b' } });
    expect([created.status, changes]).toEqual([201, 2]);
  });

  test('a change that changes nothing is refused too', async () => {
    const { path } = await app.project();
    const at = `${path}/environments/staging/flags/a`;
    await app.call('PUT', at, { body: STATE });
    const { text } = await token();
    beforeNextCommit(revoked(`caller-${count}`));
    expect((await app.call('PUT', at, { token: text, body: STATE })).json.error).toBe('invalid_access_token');
  });

  test('of writers that share a commit, only those whose rights ended are refused', async () => {
    const { path } = await app.project();
    const callers = [await token(), await token(), await token()];
    const [, second] = callers;
    let waiting = 0;
    const all = Promise.withResolvers<void>();
    app.node.beforeCommit = async () => {
      waiting++;
      if (waiting === callers.length) {
        app.node.beforeCommit = async () => {};
        await second?.revoke();
        all.resolve();
      }
      await all.promise;
    };
    const answers = await Promise.all(
      callers.map(({ text }, index) =>
        app.call('PUT', `${path}/environments/staging/flags/f${index}`, { token: text, body: STATE }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 401, 200]);
    const { flags } = (await app.call('GET', `${path}/flags`)).json;
    expect(flags.map(({ key }: { key: string }) => key)).toEqual(['f0', 'f2']);
  });
});
