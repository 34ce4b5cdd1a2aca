import type { TestAnswer, TestApp, TestRequest } from '../../management/api/test-app.ts';
import { join, type TestBrowser } from '../../management/api/test-browser.ts';

/** The flag that the tests propose to change. */
export const FLAG = 'checkout';

/** People of all rights, and what tests of approvals do with them. */
export interface Team {
  readonly app: TestApp;
  /** An administrator. */
  readonly ada: TestBrowser;
  /** Editors who may change protected environments. */
  readonly ben: TestBrowser;
  readonly cleo: TestBrowser;
  /** An editor who may not. */
  readonly dan: TestBrowser;
  readonly emails: Readonly<Record<'ada' | 'ben' | 'cleo' | 'dan', string>>;
}

/** Lets the people of a team join an application; once for each. */
export async function makeTeam(app: TestApp): Promise<Team> {
  const person = async (name: string, role: string, canChangeProtected = false) => {
    const { browser } = await join(app, { email: `${name}@example.com`, role, canChangeProtected });
    return browser;
  };
  const [ada, ben] = [await person('ada', 'admin'), await person('ben', 'editor', true)];
  const [cleo, dan] = [await person('cleo', 'editor', true), await person('dan', 'editor')];
  const emailOf = (name: string) => `${name}@example.com`;
  const emails = { ada: emailOf('ada'), ben: emailOf('ben'), cleo: emailOf('cleo'), dan: emailOf('dan') };
  return { app, ada, ben, cleo, dan, emails };
}

/** A project whose production requires approvals, with the flag, which is off there. */
export class GuardedProject {
  readonly team: Team;
  readonly path: string;
  readonly name: string;
  /** The path of the flag's state in production. */
  readonly state: string;

  private constructor(team: Team, { path, name }: { readonly path: string; readonly name: string }) {
    this.team = team;
    this.path = path;
    this.name = name;
    this.state = `${path}/environments/production/flags/${FLAG}`;
  }

  static async make(team: Team, settings: object = {}): Promise<GuardedProject> {
    const project = new GuardedProject(team, await team.app.project());
    await team.app.done('PUT', project.state, { body: { enabled: false } });
    await team.app.done('PUT', `${project.path}/environments/staging/flags/${FLAG}`, {
      body: { enabled: true },
    });
    await team.app.done('PATCH', `${project.path}/environments/production`, {
      body: { approvals: 1, ...settings },
    });
    return project;
  }

  /** Whether the flag is on in production. */
  async isOn(): Promise<boolean> {
    return (await this.team.app.done('GET', this.state)).state.enabled;
  }

  /** Proposes a change as a person or, without one, with the token of the settings; returns its answer. */
  propose(
    by: TestBrowser | undefined,
    {
      method = 'PATCH',
      path = this.state,
      body = { enabled: true },
    }: {
      readonly method?: string;
      readonly path?: string;
      readonly body?: unknown;
    } = {},
  ): Promise<TestAnswer> {
    const target = `${path}${path.includes('?') ? '&' : '?'}propose=true`;
    const request: TestRequest = body === undefined ? {} : { body };
    return by === undefined ? this.team.app.call(method, target, request) : by.call(method, target, request);
  }

  /** Decides on a proposal as a person, who confirms with the name of the environment. */
  decide(by: TestBrowser, id: string, verb: string): Promise<TestAnswer> {
    const headers = { 'X-Confirm-Environment': 'production' };
    return by.call('POST', `${this.path}/proposals/${id}/${verb}`, { headers });
  }

  /** The proposal as everyone sees it. */
  proposal(id: string): Promise<TestAnswer['json']> {
    return this.team.app.done('GET', `${this.path}/proposals/${id}`);
  }
}

/** A change of each kind that is guarded, of a project's production, by its name: `undefined` turns the flag on. */
export const GUARDED_CHANGES: readonly (readonly [
  string,
  (project: GuardedProject) => Parameters<GuardedProject['propose']>[1],
])[] = [
  ['a whole state', () => ({ method: 'PUT', body: { enabled: true } })],
  ['a removed state', () => ({ method: 'DELETE', body: undefined })],
  [
    'several states',
    ({ path }) => ({
      method: 'POST',
      path: `${path}/environments/production/changes`,
      body: { changes: [{ key: FLAG, state: { enabled: true } }] },
    }),
  ],
  [
    'a copy',
    ({ path }) => ({
      method: 'POST',
      path: `${path}/environments/production/copy`,
      body: { from: 'staging' },
    }),
  ],
  [
    'an archived flag',
    ({ path }) => ({ method: 'POST', path: `${path}/flags/${FLAG}/archive`, body: undefined }),
  ],
  [
    'an import',
    ({ name }) => ({
      method: 'POST',
      path: '/api/import?policy=enforce',
      body: {
        halyard: 1,
        environments: [{ name: 'production', protected: true, color: 'red' }],
        project: name,
        flags: { [FLAG]: { environments: { production: { enabled: true } } } },
      },
    }),
  ],
  [
    'a schedule',
    ({ path }) => ({
      method: 'POST',
      path: `${path}/schedules`,
      body: {
        environment: 'production',
        dueAt: '2100-01-01T00:00:00Z',
        changes: [{ key: FLAG, patch: { enabled: true } }],
      },
    }),
  ],
  [
    'a rollout plan',
    ({ path }) => ({
      method: 'POST',
      path: `${path}/rollouts`,
      body: {
        environment: 'production',
        flag: FLAG,
        steps: [{ rolloutPct: 5 }, { rolloutPct: 100, waitMinutes: 60 }],
      },
    }),
  ],
  ['fewer approvals', ({ path }) => ({ path: `${path}/environments/production`, body: { approvals: 0 } })],
  [
    'the end of the protection',
    ({ path }) => ({ path: `${path}/environments/production`, body: { protected: false } }),
  ],
  [
    'the end of the environment',
    ({ path }) => ({ method: 'DELETE', path: `${path}/environments/production`, body: undefined }),
  ],
  ['the end of the project', ({ path }) => ({ method: 'DELETE', path, body: undefined })],
];
