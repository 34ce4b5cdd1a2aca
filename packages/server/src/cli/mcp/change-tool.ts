import { z } from 'zod';
import type { FlagRecord, FlagState, StateWritten } from '../../app/types.ts';
import { type ApiRequest, apiPath } from '../api-client.ts';
import { CliError } from '../cli-error.ts';
import { environmentOf, proposedAnswer, sendChange, shellWord, wayOf } from './guard.ts';
import { environment, expectedRevision, key, noteOf, type Patch, patch, project, reason } from './inputs.ts';
import { type McpSession, Refusal } from './session.ts';
import { applyPatch, differenceOf, readFlag, stateRecordIn } from './states.ts';
import { type McpTool, writeTool } from './tool.ts';

const change = z.strictObject({
  project,
  environment,
  key,
  patch,
  expectedRevision,
  reason,
  dryRun: z.boolean().default(false),
});

type Change = z.infer<typeof change>;

/** Changes one flag in one environment, if it is still as the agent has read it. */
export const changeTool: McpTool = writeTool({
  name: 'halyard_change_flag',
  description:
    'Change one flag in one environment: on or off, share of users, value. Needs the revision you read and a reason. The answer has before, after, the share of users and the seq to revert. Where people must approve, it becomes a proposal. dryRun shows all that without changing anything.',
  right: 'states',
  isDestructive: true,
  input: change,
  run: async (input, call) => {
    const { session } = call;
    const place = await environmentOf(session, input.project, input.environment);
    const before = stateAsRead(await readFlag(session, input.project, input.key), input);
    const after = applyPatch(before, input.patch);
    const way = wayOf(session, [place]);
    const difference = differenceOf(before, after);

    if (Bun.deepEquals(before, after)) return { changed: false, ...difference };
    if (input.dryRun) return { dryRun: true, changes: way, ...difference };

    const request = requestOf(input, noteOf(input.reason, call));
    const sent = await sendChange<StateWritten>(session, {
      way,
      request,
      commandLine: commandOf(input),
    }).catch((error: unknown) => withPresentState(error, session, input));
    if ('proposal' in sent) return proposedAnswer(sent.proposal, difference);

    const { before: replaced, state, changed, revision, seq } = sent.answer;
    return { changed, ...differenceOf(changed ? replaced : state, state), revision, revertWithSeq: seq };
  },
});

/** The state that the agent has read. Refuses another revision, and says what is there now. */
export function stateAsRead(
  flag: FlagRecord,
  { environment, expectedRevision }: Pick<Change, 'environment' | 'expectedRevision'>,
): FlagState | undefined {
  const record = stateRecordIn(flag, environment);
  if ((record?.revision ?? 0) === expectedRevision) return record?.state;
  throw stale(flag, environment);
}

function stale(flag: FlagRecord, environment: string): Refusal {
  return new Refusal(
    'revision_conflict',
    'The flag has changed since you read it. Nothing was changed. Decide again on its present state.',
    { now: stateRecordIn(flag, environment) ?? { revision: 0, state: 'no state' } },
  );
}

/** A conflict that the server found, in the same words. */
async function withPresentState(
  error: unknown,
  session: McpSession,
  { project, key, environment }: Change,
): Promise<never> {
  if (!(error instanceof CliError) || error.code !== 'revision_conflict') throw error;
  throw stale(await readFlag(session, project, key), environment);
}

function requestOf({ project, environment, key, patch, expectedRevision }: Change, note: string): ApiRequest {
  return {
    method: 'PATCH',
    path: apiPath`/projects/${project}/environments/${environment}/flags/${key}`,
    headers: expectedRevision === 0 ? { 'If-None-Match': '*' } : { 'If-Match': `"${expectedRevision}"` },
    body: patch,
    note,
  };
}

/** The same change as a command line. */
function commandOf({ project, environment, key, patch, expectedRevision, reason }: Change): string {
  return [
    `halyard flag set ${key} --project ${project} --env ${environment}`,
    ...patchOptions(patch),
    `--expect ${expectedRevision === 0 ? 'none' : expectedRevision}`,
    `--note ${shellWord(reason)}`,
  ].join(' ');
}

/** Parts of a state as options of a command line. */
export function patchOptions({ enabled, value, rolloutPct, unset = [] }: Patch): readonly string[] {
  const options: string[] = unset.map((name) => (name === 'value' ? '--no-value' : '--no-rollout'));
  if (enabled !== undefined) options.push(enabled ? '--on' : '--off');
  if (rolloutPct !== undefined) options.push(`--rollout ${rolloutPct}`);
  if (value !== undefined) options.push(`--value ${shellWord(JSON.stringify(value))}`);
  return options;
}
