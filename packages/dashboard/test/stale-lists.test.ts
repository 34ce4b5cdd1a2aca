import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { QueryClient, type QueryKey } from '@tanstack/react-query';
import { CALLS, makePlace } from '../../server/src/app/test-calls.ts';
import type { LogRow } from '../../server/src/domain/change-log.ts';
import { writeJson } from '../../server/src/domain/raw-json.ts';
import { openTestApp, type TestApp } from '../../server/src/management/api/test-app.ts';
import { changeEvent, Names } from '../../server/src/nouns/deliveries/dashboard-events.ts';
import {
  FLAG,
  GuardedProject,
  makeTeam,
  type Team,
} from '../../server/src/nouns/proposals/test-approvals.ts';
import { ENGINES } from '../../server/src/storage/test-engines.ts';
import type { LiveChange } from '../src/api/live-connection.ts';
import { queryKeys } from '../src/api/query-cache.ts';
import { touchedBy, touchedByStates } from '../src/api/stale-lists.ts';

setDefaultTimeout(60_000);

/** The lists of a project and of the installation, and where screens read them. */
function listsOf(project: string): readonly (readonly [key: QueryKey, path: string])[] {
  const path = `/api/projects/${project}`;
  return [
    [queryKeys.projects, '/api/projects'],
    [queryKeys.project(project), path],
    [[...queryKeys.project(project), 'publications'], `${path}/publications`],
    [queryKeys.flags(project), `${path}/flags?values=preview`],
    [queryKeys.archivedFlags(project), `${path}/flags?archived=true&values=preview`],
    [queryKeys.flag(project, 'a'), `${path}/flags/a`],
    [queryKeys.flag(project, 'b'), `${path}/flags/b`],
    [queryKeys.clients(project), `${path}/clients`],
    [queryKeys.keys(project), `${path}/keys`],
    [queryKeys.schedules(project), `${path}/schedules`],
    [queryKeys.proposals(project), `${path}/proposals`],
    [[...queryKeys.rollouts(project), {}], `${path}/rollouts`],
    [queryKeys.usage(project), `${path}/usage`],
    [[...queryKeys.usage(project), 'a'], `${path}/flags/a/usage`],
    [[...queryKeys.compare(project), 'production', 'staging'], `${path}/compare?from=production&to=staging`],
    [queryKeys.deliveries(project), `${path}/deliveries`],
    [queryKeys.operators, '/api/operators'],
    [queryKeys.invitations, '/api/invitations'],
    [queryKeys.tokens, '/api/tokens'],
    [queryKeys.relayTokens, '/api/relay-tokens'],
    // Not webhooks and reports about code: their screens read them again by themselves.
  ];
}

/** What follows the states in the event, without being read again. */
const MERGED = ['project', 'flags', 'flag'];

let app: TestApp;
let team: Team;
let methods: ReadonlyMap<string, string>;
let count = 0;

beforeAll(async () => {
  const [engine] = ENGINES;
  if (engine === undefined) throw new Error('the tests have no engine');
  app = await openTestApp(engine);
  team = await makeTeam(app);
  methods = new Map((await app.operations()).map(({ method, described }) => [described.operationId, method]));
});
afterAll(() => app.close());

const names = new Names();
let seen = 0;

/** The rows of the log since the last call, as dashboards get them. */
async function newEvents(): Promise<readonly LiveChange[]> {
  const rows = await app.home.database.query<LogRow>(
    `SELECT seq, kind, project_id AS "projectId", environment_id AS "environmentId", revision, payload, actor, at
      FROM change_log WHERE seq > $1 ORDER BY seq`,
    [seen],
  );
  seen = rows.at(-1)?.seq ?? seen;
  return rows.map((row) => {
    names.learn(row);
    const { data } = changeEvent(row, names.place(row.projectId, row.environmentId));
    names.forget(row);
    return JSON.parse(writeJson(data));
  });
}

/** Gives a project what has names of its environments, of itself and of its flags. */
async function furnish({ name, path }: { readonly name: string; readonly path: string }): Promise<void> {
  const place = { environment: 'development' };
  const states = { development: { enabled: false }, staging: { enabled: true } };
  const projects = [{ project: name, role: 'viewer' }];
  const dueAt = '2100-01-01T00:00:00Z';
  const steps = [5, 100].map((rolloutPct) => ({ rolloutPct, waitMinutes: 60 }));
  const make = (at: string, body: object) => app.done('POST', at, { body });

  for (const key of ['planned', 'later', 'ended']) await make(`${path}/flags`, { key, states });
  await app.done('POST', `${path}/flags/ended/archive`);
  await make(`${path}/keys`, { name: 'both', environments: ['development', 'staging'] });
  await make(`${path}/schedules`, { ...place, dueAt, changes: [{ key: 'later', state: { enabled: true } }] });
  await make(`${path}/rollouts`, { ...place, flag: 'planned', steps });
  await app.done('PUT', `${path}/environments/development/publication`, { body: { withoutKey: true } });
  await make('/api/relay-tokens', { name, projects: [name], environments: ['development'] });
  await make('/api/tokens', { name, projects });
  await make('/api/invitations', { email: `${name}@example.com`, projects });
}

/** The answers of all lists; `undefined` where something does not exist, of which no screen shows a list. */
async function answersOf(project: string) {
  return Promise.all(
    listsOf(project).map(async ([key, path]) => {
      const { status, text, json } = await app.call('GET', path);
      return { key, text: status === 200 ? text : undefined, json };
    }),
  );
}

/** The lists whose answers are different after `act`, and of which no event of it says so. */
async function missedAfter(project: string, act: () => Promise<unknown>): Promise<readonly string[]> {
  const before = await answersOf(project);
  const queries = new QueryClient();
  // A list is the first member of its answer; a record is the answer.
  for (const { key, json } of before) {
    const [first] = Object.values(json ?? {});
    queries.setQueryData(key, Array.isArray(first) ? first : json);
  }
  await newEvents();

  await act();
  const events = await newEvents();
  const touched = events.flatMap((event) => [...touchedBy(event), ...touchedByStates(queries, event)]);
  const isMerged = events.some(({ kind }) => kind === 'flags.changed');
  const isKnown = (key: QueryKey) =>
    touched.some((each) => each.every((part, index) => part === key[index])) ||
    (isMerged && MERGED.includes(String(key[0])));

  const changed = (await answersOf(project)).filter(
    ({ text }, index) => text !== undefined && text !== before[index]?.text,
  );
  return changed.flatMap(({ key }) => (isKnown(key) ? [] : [key.join('/')]));
}

test.each(Object.keys(CALLS))('%s makes every list stale whose answer it changes', async (id) => {
  const place = await makePlace(app, `fresh-${++count}`);
  await furnish(place);
  const call = await CALLS[id]?.(place);
  if (call === undefined) throw new Error(`no operation ${id}`);
  const project = id === 'createProject' ? place.fresh : place.name;

  const act = () => app.done(methods.get(id) ?? '', call.path, { body: call.body });
  expect(await missedAfter(project, act)).toEqual([]);
});

test('so does a flag that is restored with its states, or deleted with them', async () => {
  const place = await makePlace(app, `fresh-${++count}`);
  await furnish(place);
  const flags = `${place.path}/flags`;
  const restore = () => app.done('POST', `${flags}/ended/restore`);
  expect(await missedAfter(place.name, restore)).toEqual([]);
  const remove = () => app.done('DELETE', `${flags}/a?archive=true`);
  expect(await missedAfter(place.name, remove)).toEqual([]);
});

test('so does an emergency, a proposal that is carried out, and the end of its environment', async () => {
  const project = await GuardedProject.make(team);
  await furnish(project);
  const headers = { 'X-Confirm-Environment': 'production', 'X-Change-Note': 'INC-812' };
  const emergency = () =>
    team.ada.call('PATCH', `${project.state}?emergency=true`, { body: { enabled: true }, headers });
  expect(await missedAfter(project.name, emergency)).toEqual([]);

  const change = { body: { enabled: false } };
  const held = await team.ben.call('PATCH', `${project.state}?propose=hold`, change);
  const decide = (verb: string) => () => project.decide(team.cleo, held.json.id, verb);
  expect(await missedAfter(project.name, decide('approve'))).toEqual([]);
  expect(await missedAfter(project.name, decide('apply'))).toEqual([]);
  expect((await project.proposal(held.json.id)).status).toBe('applied');

  const both = await team.ben.call('POST', `${project.path}/flags/${FLAG}/archive?propose=true`);
  const { id } = both.json;
  const reject = () => project.decide(team.cleo, id, 'reject');
  const end = () => app.done('DELETE', `${project.path}/environments/staging`);
  expect(await missedAfter(project.name, end)).toEqual([]);
  expect(await missedAfter(project.name, reject)).toEqual([]);
});
