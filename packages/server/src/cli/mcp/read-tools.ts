import { z } from 'zod';
import type { AuditEntry, FlagRecord } from '../../app/types.ts';
import { apiPath } from '../api-client.ts';
import { fits } from './fit.ts';
import { environmentsOf, wayOf } from './guard.ts';
import { cursor, environment, key, project, time } from './inputs.ts';
import {
  type McpSession,
  readJson,
  requireEnvironment,
  requireProject,
  shownEnvironments,
  showsEnvironment,
} from './session.ts';
import { shareOf } from './states.ts';
import { type McpTool, readTool } from './tool.ts';

/** Most projects of which the environments are shown at once. */
const MAX_PROJECTS = 20;

/** How long a flag has been the same when it counts as stale, in milliseconds. */
const STALE_MS = 30 * 86_400_000;

const contextTool = readTool({
  name: 'halyard_context',
  description:
    'Start here: who you act for, what you may do, the projects and their environments, and how each environment takes changes: "direct", "proposed" (people approve first) or "people" (only people change it).',
  input: z.strictObject({}),
  run: async (_input, { session }) => {
    const { caller, mayWrite, allowProtected, projects: only } = session;
    const listed = await readJson<{ projects: { name: string }[]; next?: string }>(session, {
      path: apiPath`/projects`,
      query: { limit: '1000' },
    });
    const names = listed.projects.map(({ name }) => name).filter((name) => only?.includes(name) ?? true);

    const projects = await Promise.all(
      names.slice(0, MAX_PROJECTS).map(async (name) => ({
        name,
        environments: (await environmentsOf(session, name))
          .filter((each) => showsEnvironment(session, each.name))
          .map((each) => ({
            name: each.name,
            protected: each.protected,
            approvals: each.approvals,
            changes: mayWrite ? wayOf(session, [each]) : 'none',
          })),
      })),
    );
    return { caller, mayWrite, allowProtected, projects, moreProjects: names.slice(MAX_PROJECTS) };
  },
});

const findTool = readTool({
  name: 'halyard_find_flags',
  description:
    'Find flags of a project by text, tag, owner or state. Gives each flag with its state and revision per environment. "stale": the same everywhere for 30 days.',
  input: z.strictObject({
    project,
    text: z.string().max(200).optional().describe('In key, description, tags, owner'),
    tag: z.string().optional(),
    owner: z.string().optional(),
    state: z.enum(['used', 'stale', 'archived']).default('used'),
    cursor,
    limit: z.int().min(1).max(50).default(20),
  }),
  run: async ({ project, text, tag, owner, state, cursor, limit }, { session }) => {
    requireProject(session, project);
    const query = {
      q: text,
      tag,
      owner,
      archived: state === 'archived' ? 'true' : 'false',
      unchangedSince: state === 'stale' ? new Date(session.now() - STALE_MS).toISOString() : undefined,
      cursor,
    };

    return await readPage(limit, async (count) => {
      const page = await readJson<{ flags: FlagRecord[]; next?: string }>(session, {
        path: apiPath`/projects/${project}/flags`,
        query: { ...query, limit: count },
      });
      return { flags: page.flags.map((flag) => summaryOf(flag, session)), nextCursor: page.next };
    });
  },
});

function summaryOf(flag: FlagRecord, session: McpSession): object {
  const { key, description, owner, tags, archivedAt } = flag;
  const states = shownEnvironments(session, flag.environments).map(
    ([name, { state, revision, valueName }]) => [
      name,
      { enabled: state.enabled, shareOfUsersPct: shareOf(state), valueName, revision },
    ],
  );
  return {
    key,
    description: description.slice(0, 200) || undefined,
    owner: owner || undefined,
    tags: tags.length === 0 ? undefined : tags,
    archivedAt,
    environments: Object.fromEntries(states),
  };
}

const historyTool = readTool({
  name: 'halyard_history',
  description:
    'Who changed what, when and why, newest first. "seq" is the number with which a change is reverted.',
  input: z.strictObject({
    project,
    environment: environment.optional(),
    key: key.optional(),
    since: time.optional(),
    cursor,
    limit: z.int().min(1).max(50).default(20),
  }),
  run: async ({ project, environment, key, since, cursor, limit }, { session }) => {
    requireProject(session, project);
    if (environment !== undefined) requireEnvironment(session, environment);

    return await readPage(limit, async (count) => {
      const page = await readJson<{ entries: AuditEntry[]; next?: string }>(session, {
        path: apiPath`/audit`,
        query: { project, environment, target: key, since, cursor, limit: count },
      });
      return { changes: entriesOf(page.entries, session), nextCursor: page.next };
    });
  },
});

/** Reads a page. One that is too long is read again, with half of the items, because a part of it has no cursor. */
async function readPage(limit: number, read: (limit: string) => Promise<object>): Promise<object> {
  for (let count = limit; ; count = Math.ceil(count / 2)) {
    const answer = await read(`${count}`);
    if (count === 1 || fits(answer)) return answer;
  }
}

/** Entries within the limits, as an agent gets them. */
export function entriesOf(entries: readonly AuditEntry[], session: McpSession): readonly object[] {
  return entries
    .filter((entry) => showsEnvironment(session, entry.environment))
    .map(({ operation: seq, at, actor, note, action, environment, target, before, after }) => ({
      seq,
      at,
      actor,
      note,
      action,
      environment,
      target,
      before,
      after,
    }));
}

const compareTool = readTool({
  name: 'halyard_compare',
  description: 'How the flags of two environments of a project differ.',
  input: z.strictObject({ project, from: environment, to: environment }),
  run: async ({ project, from, to }, { session }) => {
    requireProject(session, project);
    for (const name of [from, to]) requireEnvironment(session, name);
    return await readJson<object>(session, {
      path: apiPath`/projects/${project}/compare`,
      query: { from, to },
    });
  },
});

/** The tools that read lists. */
export const READ_TOOLS: readonly McpTool[] = [contextTool, findTool, historyTool, compareTool];
