import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { TokenLimit } from '@halyard/protocol';
import { openTestApp, type TestAnswer, type TestApp } from '../management/api/test-app.ts';
import type { Level, Scope } from '../management/rights.ts';
import { readProject } from '../nouns/projects/project-table.ts';
import { ENGINES } from '../storage/test-engines.ts';

setDefaultTimeout(60_000);

interface Described {
  readonly method: string;
  readonly path: string;
  readonly id: string;
  readonly level: Level | 'anyone';
  readonly scope: Scope | undefined;
  readonly readsAudit: boolean;
}

const RANKS = ['none', 'viewer', 'states', 'editor', 'admin'] as const;
type Rank = (typeof RANKS)[number];

/** A caller, with a role for all projects and one in the project "ours". */
interface Caller {
  readonly name: string;
  readonly global: 'none' | 'viewer' | 'editor' | 'admin';
  readonly ours?: 'viewer' | 'editor' | 'admin';
  readonly only?: TokenLimit;
}

const CALLERS: readonly Caller[] = [
  ...(['viewer', 'editor', 'admin'] as const).flatMap((role) => [
    { name: `${role} of all`, global: role },
    { name: `${role} of ours`, global: 'none', ours: role } as const,
  ]),
  { name: 'viewer of all, administrator of ours', global: 'viewer', ours: 'admin' },
  { name: 'planner of all', global: 'admin', only: 'plan' },
  { name: 'planner of ours', global: 'none', ours: 'editor', only: 'plan' },
  { name: 'setter of all', global: 'editor', only: 'states' },
  { name: 'auditor of all', global: 'admin', only: 'audit' },
  { name: 'auditor of ours', global: 'none', ours: 'admin', only: 'audit' },
  { name: 'setter of ours', global: 'none', ours: 'admin', only: 'states' },
];

const PLACES = ['ours', 'theirs'] as const;
type Place = (typeof PLACES)[number];

/** What belongs to a project without having it in its path. */
interface Belongings {
  readonly seq: number;
  readonly key: string;
  readonly member: string;
  readonly token: string;
  readonly relay: string;
}

let app: TestApp;
let operations: readonly Described[];
const tokens = new Map<string, string>();
const belongings = new Map<Place, Belongings>();
let count = 0;

const made = (path: string, body: object) => app.done('POST', path, { body });

beforeAll(async () => {
  const [engine] = ENGINES;
  if (engine === undefined) throw new Error('the tests have no engine');
  app = await openTestApp(engine);
  for (const [index, project] of PLACES.entries()) {
    await made('/api/projects', { name: project });
    const path = `/api/projects/${project}`;
    await made(`${path}/flags`, { key: `flag-of-${project}`, states: { production: { enabled: true } } });
    const changed = await app.call('PATCH', `${path}/environments/staging/flags/flag-of-${project}`, {
      body: { enabled: true },
    });
    const key = await made(`${path}/keys`, { name: `key-of-${project}`, environments: ['staging'] });
    const projects = [{ project, role: 'viewer' }];
    const invited = await made('/api/invitations', { email: `member-${index}@example.com`, projects });
    const joined = await app.call('POST', '/api/invitations/accept', {
      token: null,
      headers: { 'Content-Type': 'application/json' },
      body: { token: invited.token, password: 'a password of some length' },
    });
    const token = await made('/api/tokens', { name: `token-of-${project}`, projects });
    const relay = await made('/api/relay-tokens', { name: `relay-of-${project}`, projects: [project] });
    const ids = { key: key.id, member: joined.json.operator.id, token: token.id, relay: relay.id };
    belongings.set(project, { seq: changed.json.seq, ...ids });
  }
  for (const { name, global, ours, only } of CALLERS) {
    const projects = ours && [{ project: 'ours', role: ours }];
    tokens.set(name, (await made('/api/tokens', { name, role: global, projects, only })).token);
  }
  operations = (await app.operations()).map(({ method, path, described }) => ({
    method,
    path,
    id: described.operationId,
    level: described['x-sets-states'] ? 'states' : (described['x-role'] ?? 'anyone'),
    scope: described['x-scope'],
    readsAudit: described['x-reads-audit'] === true,
  }));
});
afterAll(() => app.close());

/** The highest role of a caller in a place, within the limit of its token; written apart from the rules. */
function rankIn({ global, ours, only }: Caller, place?: Place): number {
  const roles: Rank[] = [global, ...(place === 'ours' && ours !== undefined ? [ours] : [])];
  const limit: Rank = only === 'states' ? 'states' : only === undefined ? 'admin' : 'viewer';
  const rank = Math.max(...roles.map((role) => RANKS.indexOf(role)));
  return Math.min(rank, RANKS.indexOf(limit));
}

/** Whether the token of a caller is for a task that the operation is no part of, whatever its roles. */
function isBeyondTask({ only }: Caller, { readsAudit, scope }: Described): boolean {
  return only === 'audit' && !readsAudit && scope !== 'self';
}

type Outcome = 'allowed' | 'forbidden' | 'hidden';

function expected(caller: Caller, level: Level, place?: Place): Outcome {
  const rank = rankIn(caller, place);
  if (rank >= RANKS.indexOf(level)) return 'allowed';
  return place !== undefined && rank === 0 ? 'hidden' : 'forbidden';
}

function outcomeOf({ status, json }: TestAnswer): Outcome {
  if (status === 403) return 'forbidden';
  const isHidden = status === 404 && ['project_not_found', 'not_found', 'key_not_found'].includes(json.error);
  return isHidden ? 'hidden' : 'allowed';
}

/** Runs work on a node that refuses changes: an allowed call fails before it changes anything. */
async function withoutWrites<T>(work: () => Promise<T>): Promise<T> {
  app.node.isLost = true;
  try {
    return await work();
  } finally {
    app.node.isLost = false;
  }
}

/** The limits with which a token may call operations of a level. */
const LIMITS: Readonly<Record<Level, string>> = {
  viewer: 'plan, states',
  states: 'states',
  editor: '',
  admin: '',
};

/** The row of an operation in the table of the documentation. */
function rowOf({ method, path, id, level, scope, readsAudit }: Described): string {
  const role = level === 'states' ? 'editor' : level;
  const cells =
    level === 'anyone'
      ? ['anyone', '', '']
      : [
          scope === 'self' ? 'anyone' : role,
          scope ?? 'undeclared',
          LIMITS[level] + (readsAudit || scope === 'self' ? ', audit' : ''),
        ];
  return `| \`${id}\` | \`${method} ${path}\` | ${cells.join(' | ')} |`;
}

test('the documentation has the right of every operation', async () => {
  const page = await Bun.file(new URL('../../../../docs/operations/rights.md', import.meta.url)).text();
  const table = page.split('\n').filter((line) => line.startsWith('| `'));
  expect(table.toSorted()).toEqual(operations.map(rowOf).sort());
});

test('every operation declares its scope', () => {
  expect(operations.length).toBeGreaterThan(60);
  const undeclared = operations.filter(({ path, scope, level }) =>
    path.includes('{project}') ? scope !== 'project' : scope === undefined && level !== 'anyone',
  );
  expect(undeclared).toEqual([]);
});

describe('the matrix of operation, role and scope', () => {
  test('of the operations in a project', async () => {
    const some = operations.filter(({ scope }) => scope === 'project');
    expect(some.length).toBeGreaterThan(35);
    const wrong: unknown[] = [];
    for (const operation of some) {
      const { method, path, id, level } = operation;
      for (const caller of CALLERS) {
        for (const place of PLACES) {
          const url = path.replace('{project}', place).replaceAll(/\{\w+\}/g, 'nowhere');
          const token = tokens.get(caller.name) ?? '';
          const body = method === 'GET' || method === 'DELETE' ? {} : { body: {} };
          const answer = await withoutWrites(() => app.call(method, url, { token, ...body }));
          const outcome =
            answer.status === 404 && answer.json.error !== 'project_not_found'
              ? 'allowed'
              : outcomeOf(answer);
          const byRole = level === 'anyone' ? 'allowed' : expected(caller, level, place);
          const right = isBeyondTask(caller, operation) ? 'forbidden' : byRole;
          if (outcome !== right) wrong.push([id, caller.name, place, outcome, right]);
        }
      }
    }
    expect(wrong).toEqual([]);
  });

  test('of the operations that require a role for all projects, or none', async () => {
    const some = operations.filter(
      ({ scope, level }) => (scope === 'server' || scope === 'self') && level !== 'anyone',
    );
    expect(some.map(({ id }) => id)).toContain('createProject');
    const wrong: unknown[] = [];
    for (const operation of some) {
      const { method, path, id, level, scope } = operation;
      for (const caller of CALLERS) {
        const token = tokens.get(caller.name) ?? '';
        const url = path.replaceAll(/\{\w+\}/g, 'nowhere');
        const body = method === 'GET' || method === 'DELETE' ? {} : { body: {} };
        const { status } = await withoutWrites(() => app.call(method, url, { token, ...body }));
        const byRole = level === 'anyone' || scope === 'self' || expected(caller, level) === 'allowed';
        const right = byRole && !isBeyondTask(caller, operation);
        if ((status !== 403) !== right) wrong.push([id, caller.name, status]);
      }
    }
    expect(wrong).toEqual([]);
  });

  /** A call about something of a place; without a body of its own, `level` is that of the operation. */
  interface PlacedCall {
    readonly path: string;
    readonly body?: object;
    /** What is allowed shows this; what is hidden, or forbidden, does not. */
    readonly shows?: string;
  }

  /** For each operation whose scope is `visible`: a call about a place. Lists answer every caller, and show only what it may see. */
  const CALLS: Readonly<Record<string, (place: Place, own: Belongings) => PlacedCall | Promise<PlacedCall>>> =
    {
      listProjects: (place) => ({ path: '/api/projects', shows: `"${place}"` }),
      getOverview: (place) => ({ path: '/api/overview', shows: `"${place}"` }),
      search: (place) => ({ path: `/api/search?q=flag-of-${place}`, shows: `flag-of-${place}` }),
      followAudit: (place) => ({ path: '/api/audit/follow?after=0&limit=1000', shows: `flag-of-${place}` }),
      listAudit: (place) => ({ path: '/api/audit?limit=1000', shows: `flag-of-${place}` }),
      listOperators: (place) => ({ path: '/api/operators', shows: `"${place}"` }),
      listAccessTokens: (place) => ({ path: '/api/tokens', shows: `token-of-${place}` }),
      listRelayTokens: (place) => ({ path: '/api/relay-tokens', shows: `relay-of-${place}` }),
      listInvitations: async (place) => {
        await made('/api/invitations', {
          email: `soon@${place}.example`,
          projects: [{ project: place, role: 'viewer' }],
        });
        return { path: '/api/invitations', shows: `soon@${place}.example` };
      },
      getChange: (_, { seq }) => ({ path: `/api/changes/${seq}` }),
      getDelivery: (_, { seq }) => ({ path: `/api/changes/${seq}/delivery` }),
      revertChange: (_, { seq }) => ({ path: `/api/changes/${seq}/revert?dryRun=true`, body: {} }),
      getProjectKey: (_, { key }) => ({ path: `/api/keys/${key}` }),
      replaceProjectKey: (_, { key }) => ({ path: `/api/keys/${key}/replace`, body: {} }),
      revokeProjectKey: (_, { key }) => ({ path: `/api/keys/${key}` }),
      streamEvents: (place) => ({ path: `/api/events?project=${place}` }),
      createAccessToken: (place) => ({
        path: '/api/tokens',
        body: { name: `new-${++count}`, projects: [{ project: place, role: 'viewer' }] },
      }),
      revokeAccessToken: (_, { token }) => ({ path: `/api/tokens/${token}` }),
      createRelayToken: (place) => ({
        path: '/api/relay-tokens',
        body: { name: `new-${++count}`, projects: [place] },
      }),
      revokeRelayToken: (_, { relay }) => ({ path: `/api/relay-tokens/${relay}` }),
      inviteOperator: (place) => ({
        path: '/api/invitations',
        body: { email: `new-${++count}@example.com`, projects: [{ project: place, role: 'viewer' }] },
      }),
      revokeInvitation: async (place) => {
        const email = `new-${++count}@example.com`;
        const { id } = await made('/api/invitations', {
          email,
          projects: [{ project: place, role: 'viewer' }],
        });
        return { path: `/api/invitations/${id}` };
      },
      changeOperator: (place, { member }) => ({
        path: `/api/operators/${member}`,
        body: { projects: [{ project: place, role: 'viewer' }] },
      }),
      // A hidden project looks like one to create.
      diffProject: (place) => ({
        path: '/api/diff',
        body: { halyard: 1, project: place, environments: [], flags: {} },
        shows: '"projectCreated":false',
      }),
      importProject: (place) => ({
        path: '/api/import',
        body: { halyard: 1, project: place, environments: [], flags: {} },
      }),
    };

  /** Differences from the rule that a role in the place is required. */
  function exception(id: string, caller: Caller, place: Place, level: Level): Outcome {
    // A credential is hidden from callers who do not administer the place, unless they administer nothing at all.
    const isAnyAdmin = [undefined, ...PLACES].some((each) => expected(caller, level, each) === 'allowed');
    const outcome = expected(caller, level, place);
    if (level !== 'viewer' && !isAnyAdmin) return 'forbidden';
    const isCredential = /^revoke(AccessToken|RelayToken|Invitation)$/.test(id);
    if (isCredential && outcome !== 'allowed') return 'hidden';
    // Creating a project requires the role for all projects.
    if (id === 'importProject' && outcome === 'hidden') return 'forbidden';
    return outcome;
  }

  /** What an answer shows that differs from the rule; `undefined` when it is right. */
  function differenceOf(answer: TestAnswer, call: PlacedCall, right: Outcome, isRefused: boolean): unknown {
    const { status, json, text } = answer;
    if (call.shows !== undefined) {
      const isShown = text.includes(call.shows);
      if (isShown !== (right === 'allowed') || (status === 403) !== isRefused)
        return [status, isShown, right];
    } else {
      // Without streams there are no receipts, and the answer says so to those who may see the change.
      const isSeen = json?.message?.includes('no delivery receipts') === true;
      const outcome = isSeen ? 'allowed' : outcomeOf(answer);
      if (outcome !== right) return [outcome, right, text.slice(0, 200)];
    }
    // An answer may repeat the name that the caller sent.
    const sent = call.path + JSON.stringify(call.body ?? {});
    return right === 'hidden' && text.includes('theirs') && !sent.includes('theirs')
      ? 'leaks a name'
      : undefined;
  }

  test('of the operations that decide themselves what the caller may see', async () => {
    const some = operations.filter(({ scope, level }) => scope === 'visible' && level !== 'anyone');
    expect(some.map(({ id }) => id).filter((id) => CALLS[id] === undefined)).toEqual([]);
    const wrong: unknown[] = [];
    for (const operation of some) {
      const { method, id, level } = operation;
      for (const caller of CALLERS) {
        const isBeyond = isBeyondTask(caller, operation);
        for (const place of PLACES) {
          const own = belongings.get(place);
          const call = own && (await CALLS[id]?.(place, own));
          if (call === undefined || level === 'anyone') throw new Error(`${id} has no call`);
          const token = tokens.get(caller.name) ?? '';
          const answer = await app.call(method, call.path, { token, ...(call.body && { body: call.body }) });
          if (id === 'streamEvents' && !isBeyond) {
            const visible = app.watched.at(-1)?.visible;
            const right = rankIn(caller) > 0 ? undefined : [await idOf('ours')];
            if (!Bun.deepEquals(visible, right)) wrong.push([id, caller.name, visible]);
            continue;
          }
          const isRefused = isBeyond || (level !== 'viewer' && !isAdminAnywhere(caller));
          const right = isBeyond ? 'forbidden' : exception(id, caller, place, level);
          const difference = differenceOf(answer, call, right, isRefused);
          if (difference !== undefined) wrong.push([id, caller.name, place, difference]);
        }
      }
    }
    expect(wrong).toEqual([]);
  });

  async function idOf(project: string): Promise<string | undefined> {
    return (await app.context.store.read((db) => readProject(db, project)))?.id;
  }

  function isAdminAnywhere(caller: Caller): boolean {
    return [undefined, ...PLACES].some((place) => expected(caller, 'admin', place) === 'allowed');
  }
});

test('what a caller may not see answers like what does not exist', async () => {
  const token = tokens.get('admin of ours') ?? '';
  const [hidden, missing] = await Promise.all(
    ['theirs', 'nothing'].map(async (name) =>
      (await app.call('GET', `/api/projects/${name}`, { token })).text.replaceAll(name, '?'),
    ),
  );
  expect(hidden).toBe(missing ?? '');
});
