import { VALUE_KINDS } from '@halyard/protocol';
import { z } from 'zod';
import type { EnvironmentRecord, Reverted } from '../../app/types.ts';
import { apiPath } from '../api-client.ts';
import { environmentsOf, proposedAnswer, sendChange, shellWord, wayOf } from './guard.ts';
import { key, noteOf, project, reason } from './inputs.ts';
import { type McpSession, Refusal, readJson, requireEnvironment, requireProject } from './session.ts';
import { type McpTool, writeTool } from './tool.ts';

const createTool = writeTool({
  name: 'halyard_create_flag',
  description:
    'Create a flag. It is off everywhere: no environment has a state yet. Say in the description what it switches and when it can go.',
  right: 'editor',
  isDestructive: false,
  input: z.strictObject({
    project,
    key,
    description: z.string().trim().min(1).max(2000),
    valueKind: z
      .enum(VALUE_KINDS)
      .default('none')
      .describe('Kind of value that code expects; none: only on or off'),
    tags: z.array(z.string()).max(20).optional(),
    owner: z.string().max(100).optional(),
    reason,
  }),
  run: async ({ project, reason, ...flag }, call) => {
    requireProject(call.session, project);
    const { text } = await call.session.connect().request({
      method: 'POST',
      path: apiPath`/projects/${project}/flags`,
      body: flag,
      note: noteOf(reason, call),
    });
    return { created: flag.key, seq: JSON.parse(text).seq, state: 'off everywhere' };
  },
});

interface ChangeRecord {
  readonly project?: string;
  readonly entries: readonly { readonly action: string }[];
}

const revertTool = writeTool({
  name: 'halyard_revert',
  description:
    'Revert one change by its seq, completely or not at all; refused if something changed since. By default a dry run that shows before and after: then call again with dryRun false.',
  right: 'editor',
  isDestructive: true,
  input: z.strictObject({ seq: z.int().min(1), reason, dryRun: z.boolean().default(true) }),
  run: async ({ seq, reason, dryRun }, call) => {
    const { session } = call;
    const change = await readJson<ChangeRecord>(session, { path: apiPath`/changes/${`${seq}`}` });
    if (change.project === undefined) throw new Refusal('not_revertible', 'This change is of no project.');
    requireProject(session, change.project);

    const request = { method: 'POST', path: apiPath`/changes/${`${seq}`}/revert`, body: {} } as const;
    const preview = await readJson<Reverted>(session, { ...request, query: { dryRun: 'true' } });
    const { differences } = preview;
    const touched = await touchedBy(session, change.project, { change, preview });
    for (const { name } of touched) requireEnvironment(session, name);

    const way = wayOf(session, touched);
    if (differences.length === 0) return { changed: false, differences };
    if (dryRun) return { dryRun: true, changes: way, differences };

    const sent = await sendChange<Reverted>(session, {
      way,
      request: { ...request, note: noteOf(reason, call) },
      commandLine: `halyard change revert ${seq} --note ${shellWord(reason)}`,
    });
    if ('proposal' in sent) return proposedAnswer(sent.proposal, { differences });
    return { changed: true, differences: sent.answer.differences, revertWithSeq: sent.answer.seq };
  },
});

/** The environments that a revert may change. What names none may concern all, unless it is about the texts of a flag. */
async function touchedBy(
  session: McpSession,
  project: string,
  { change, preview }: { readonly change: ChangeRecord; readonly preview: Reverted },
): Promise<readonly EnvironmentRecord[]> {
  const environments = await environmentsOf(session, project);
  const isText = change.entries.every(({ action }) => action === 'flag.updated');
  if (isText) return [];
  if (preview.differences.some(({ environment }) => environment === undefined)) return environments;
  return environments.filter(({ name }) => preview.differences.some((each) => each.environment === name));
}

/** The tools that write, except the two that change the state of one flag. */
export const OTHER_WRITE_TOOLS: readonly McpTool[] = [createTool, revertTool];
