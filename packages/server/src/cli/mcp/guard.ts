import type { EnvironmentRecord, ProjectRecord } from '../../app/types.ts';
import { type ApiRequest, apiPath, Proposed } from '../api-client.ts';
import { quoteWord } from '../shell.ts';
import { type McpSession, Refusal, readJson, requireEnvironment, requireProject } from './session.ts';

/** How a change may be made: at once, by a proposal, or by people only. */
export type Way = 'direct' | 'proposed' | 'people';

/** The environments of a project. */
export async function environmentsOf(
  session: McpSession,
  project: string,
): Promise<readonly EnvironmentRecord[]> {
  requireProject(session, project);
  const path = apiPath`/projects/${project}`;
  return (await readJson<ProjectRecord>(session, { path })).environments;
}

/** One environment of a project. Refuses with `environment_not_found`, and what is outside of the limits. */
export async function environmentOf(
  session: McpSession,
  project: string,
  name: string,
): Promise<EnvironmentRecord> {
  requireEnvironment(session, name);
  const environments = await environmentsOf(session, project);
  const found = environments.find((each) => each.name === name);
  if (found !== undefined) return found;
  throw new Refusal('environment_not_found', `Project ${project} has no environment ${name}.`);
}

/** How this agent changes these environments: the strictest guard counts for all of them. */
export function wayOf({ allowProtected }: McpSession, environments: readonly EnvironmentRecord[]): Way {
  if (environments.some(({ approvals }) => approvals > 0)) return 'proposed';
  return !allowProtected && environments.some((each) => each.protected) ? 'people' : 'direct';
}

/** A change that is about to be sent. */
export interface GuardedChange {
  readonly way: Way;
  readonly request: ApiRequest;
  /** The same as a command line for a person. */
  readonly commandLine: string;
}

/** Sends a change the way that its environments allow. Resolves with the answer, or with `proposal` where it is one. */
export async function sendChange<T extends object>(
  { connect }: McpSession,
  { way, request, commandLine }: GuardedChange,
): Promise<{ readonly answer: T } | { readonly proposal: object }> {
  if (way === 'people') {
    throw new Refusal(
      'confirmation_required',
      'This environment is protected: people change it. Nothing was changed. Show the command line to the person you work for.',
      { commandForPerson: commandLine },
    );
  }
  try {
    const { text } = await connect({ propose: way === 'proposed' }).request(request);
    // The shape is the API's contract.
    return { answer: JSON.parse(text) as T };
  } catch (error) {
    if (!(error instanceof Proposed)) throw error;
    const { id, environments, required, expiresAt } = JSON.parse(error.answer.text);
    return { proposal: { id, environments, approvalsNeeded: required, expiresAt } };
  }
}

/** What an agent gets for a proposal. */
export function proposedAnswer(proposal: object, more: object): object {
  return {
    changed: false,
    proposed: proposal,
    next: 'Nothing is changed yet. Other people approve or reject it in the dashboard.',
    ...more,
  };
}

/** A word of a command line for POSIX shells; without control characters, which terminals would obey. */
export function shellWord(text: string): string {
  const printable = text.replaceAll(/[\p{Cc}\p{Cf}]+/gu, ' ');
  return /^[\w./:@%+=-]+$/.test(printable) ? printable : quoteWord(printable);
}
