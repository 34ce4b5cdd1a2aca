import { z } from 'zod';
import type { AuditEntry, FlagUsage, RolloutPlan, Schedule } from '../../app/types.ts';
import { apiPath } from '../api-client.ts';
import { key, project } from './inputs.ts';
import { entriesOf } from './read-tools.ts';
import { type McpSession, readJson, readOptional, shownEnvironments, showsEnvironment } from './session.ts';
import { readFlag, shareOf } from './states.ts';
import { type McpTool, readTool } from './tool.ts';

/** How many changes of a flag are shown with it. */
const LAST_CHANGES = 5;

/** Everything about one flag, so that an agent can explain it. */
export const flagTool: McpTool = readTool({
  name: 'halyard_get_flag',
  description:
    'Everything about one flag: details, named values, state and revision per environment, reads, scheduled changes, rollout plans, its last changes. Read it before you change it.',
  input: z.strictObject({ project, key }),
  run: async ({ project, key }, { session }) => {
    const flag = await readFlag(session, project, key);
    const [usage, history, planned] = await Promise.all([
      readOptional<FlagUsage>(session, { path: apiPath`/projects/${project}/flags/${key}/usage` }),
      readJson<{ entries: AuditEntry[] }>(session, {
        path: apiPath`/audit`,
        query: { project, target: key, limit: `${LAST_CHANGES}` },
      }),
      readPlanned(session, project, key),
    ]);

    const reads = new Map(usage?.environments.map((each) => [each.name, readsOf(each)]));
    const environments = shownEnvironments(session, flag.environments).map(([name, record]) => [
      name,
      { ...record, shareOfUsersPct: shareOf(record.state), reads: reads.get(name) },
    ]);
    return {
      ...flag,
      environments: Object.fromEntries(environments),
      readsReportedSince: usage?.since,
      ...planned,
      lastChanges: entriesOf(history.entries, session).slice(0, LAST_CHANGES),
    };
  },
});

function readsOf({ lastReadAt, hours }: FlagUsage['environments'][number]): object {
  const sum = (which: 'on' | 'off') => hours.reduce((total, hour) => total + hour[which], 0);
  return { lastReadAt, last24Hours: { on: sum('on'), off: sum('off') } };
}

/** What will change a flag by itself. */
async function readPlanned(session: McpSession, project: string, key: string): Promise<object> {
  const [{ schedules }, { rollouts }] = await Promise.all([
    readJson<{ schedules: Schedule[] }>(session, {
      path: apiPath`/projects/${project}/schedules`,
      query: { status: 'pending' },
    }),
    readJson<{ rollouts: RolloutPlan[] }>(session, {
      path: apiPath`/projects/${project}/rollouts`,
      query: { flag: key, status: 'open' },
    }),
  ]);

  const isShown = ({ environment }: Schedule | RolloutPlan) => showsEnvironment(session, environment);
  const concerns = ({ changes }: Schedule) => changes.some((change) => change.key === key);
  return { schedules: schedules.filter(concerns).filter(isShown), rollouts: rollouts.filter(isShown) };
}
