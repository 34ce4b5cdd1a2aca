import type { TestApp, TestRequest } from '../../management/api/test-app.ts';

const MINUTE_MS = 60_000;

/** The first step at once, the others an hour apart. */
export const HOURLY = [
  { rolloutPct: 5 },
  { rolloutPct: 25, waitMinutes: 60 },
  { rolloutPct: 100, waitMinutes: 60 },
];

/** The flag that the plans of tests roll out. */
export const FLAG = 'checkout';

/** The state of the flag at a percentage. */
export const ON_AT = (rolloutPct: number) => ({ enabled: true, value: 'v2', rolloutPct });

/** A plan, and its project. */
export interface Started {
  readonly path: string;
  readonly name: string;
  readonly id: string;
  // biome-ignore lint/suspicious/noExplicitAny: an answer of any shape.
  readonly plan: any;
}

/** What tests of rollout plans do in the application that `current` returns. */
export function planTests(current: () => TestApp) {
  const call: TestApp['call'] = (...request) => current().call(...request);

  /** A project with the flag, which is off in production. */
  async function projectWithFlag(): Promise<{ readonly name: string; readonly path: string }> {
    const project = await current().project();
    const body = { enabled: false, value: 'v2', rolloutPct: 50 };
    await call('PUT', `${project.path}/environments/production/flags/${FLAG}`, { body });
    return project;
  }

  const start = (path: string, steps: object[] = HOURLY, more: object = {}, request: TestRequest = {}) =>
    call('POST', `${path}/rollouts`, {
      body: { flag: FLAG, environment: 'production', steps, ...more },
      ...request,
    });

  async function started(
    steps: object[] = HOURLY,
    more: object = {},
    request: TestRequest = {},
  ): Promise<Started> {
    const project = await projectWithFlag();
    const { status, json, text } = await start(project.path, steps, more, request);
    if (status !== 201) throw new Error(text);
    return { ...project, id: json.id, plan: json };
  }

  const command = ({ path, id }: Pick<Started, 'path' | 'id'>, name: string, request: TestRequest = {}) =>
    call('POST', `${path}/rollouts/${id}/${name}`, request);

  const planOf = async ({ path, id }: Pick<Started, 'path' | 'id'>) =>
    (await call('GET', `${path}/rollouts/${id}`)).json;

  const stateOf = async ({ path }: Pick<Started, 'path'>) =>
    (await call('GET', `${path}/environments/production/flags/${FLAG}`)).json?.state;

  const audit = async ({ name }: Pick<Started, 'name'>, action: string) =>
    (await call('GET', `/api/audit?project=${name}&action=${action}`)).json.entries;

  const pass = (minutes: number) => {
    current().node.now += minutes * MINUTE_MS;
  };

  const inMinutes = (minutes: number) => new Date(current().node.now + minutes * MINUTE_MS).toISOString();

  return { projectWithFlag, start, started, command, planOf, stateOf, audit, pass, inMinutes };
}
