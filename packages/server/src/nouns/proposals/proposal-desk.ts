import { defined } from '@halyard/protocol';
import type { Approval } from '../../domain/approval.ts';
import type { Actor } from '../../domain/audit.ts';
import { invalid } from '../../domain/errors.ts';
import { writeJson } from '../../domain/raw-json.ts';
import type { ProposalDesk, ProposedCall } from '../../management/api/proposal-desk.ts';
import type { ManagementContext } from '../../management/context.ts';
import { type Written, writeRecord } from '../../management/write.ts';
import { requirePersonBehind } from '../access-tokens/creators.ts';
import { readEnvironments } from '../environments/environment-table.ts';
import { lockProject, readProjects } from '../projects/project-table.ts';
import { Emergency } from './emergency.ts';
import type { NamedProposal, Proposal, ProposedRequest } from './proposal.ts';
import { proposalRecord } from './proposal-schemas.ts';
import { countOpen, insertProposal } from './proposal-table.ts';
import { Trial, Tried } from './trial.ts';

/** How long a proposal waits, in milliseconds. */
const LIFETIME_MS = 14 * 86_400_000;

/** Most open proposals of a project. */
const MAX_OPEN = 500;

/** Most characters of a proposal: of its request and of what it changes. */
const MAX_SIZE = 4 * 1024 * 1024;

/** The desk of this context: takes proposals of any operation, and emergencies. */
export function proposalDesk(context: ManagementContext): ProposalDesk {
  return {
    propose: (call, run) => propose(context, call, run),
    emergency: (call) => emergency(context, call),
  };
}

/** Runs an operation without effect, and keeps what it would do as a proposal. */
async function propose(
  context: ManagementContext,
  call: ProposedCall,
  run: (actor: Actor) => Promise<Response>,
): Promise<Response> {
  const { actor } = call;
  const trial = new Trial();
  const tried = await attempt(run, { ...actor, approval: trial });
  // It was a dry run, or found nothing to change before it began.
  if (tried instanceof Response) return tried;

  const { effects } = tried;
  if (effects.length === 0) throw invalid('There is nothing to propose: this changes nothing.');
  const environments = [...trial.environments.values()];
  if (environments.length === 0) {
    throw invalid('This needs no approval: make the change directly, without "propose".');
  }
  const [{ projectId } = { projectId: '' }] = environments;
  const request = requestOf(call);
  const size = JSON.stringify(effects).length + (request.body?.length ?? 0);
  if (size > MAX_SIZE) {
    throw invalid(
      `The change is too large to be proposed (${size} characters, at most ${MAX_SIZE}): propose parts of it.`,
    );
  }

  const proposal = await writeRecord(context, actor, async (tx) => {
    // Open proposals are counted by project.
    await lockProject(tx, projectId);
    if ((await countOpen(tx, projectId)) >= MAX_OPEN) {
      throw invalid(`The project has ${MAX_OPEN} open proposals, which is the limit: decide on some first.`);
    }

    const createdAt = context.now();
    const { note } = actor;
    const person = await requirePersonBehind(tx, actor);
    const made: Proposal = {
      id: context.newId(),
      projectId,
      environments: environments.map(({ id }) => id),
      operation: call.operation,
      request,
      effects,
      author: actor.name,
      ...defined({ person, note }),
      required: Math.max(...environments.map(({ approvals }) => approvals)),
      hold: call.hold,
      approvals: [],
      status: 'open',
      createdAt,
      expiresAt: createdAt + LIFETIME_MS,
    };
    await insertProposal(tx, made, 'proposal.created');
    const names = new Map((await readEnvironments(tx, projectId)).map(({ id, name }) => [id, name]));
    const project = (await readProjects(tx)).find(({ id }) => id === projectId);
    return { ...made, project: project?.name ?? '', names };
  });
  return accepted(proposal);
}

/** What the operation would do, or its answer if it did not get as far as a commit. */
async function attempt(run: (actor: Actor) => Promise<Response>, actor: Actor): Promise<Response | Tried> {
  try {
    return await run(actor);
  } catch (error) {
    if (error instanceof Tried) return error;
    throw error;
  }
}

function emergency(context: ManagementContext, call: ProposedCall): Approval {
  const { actor, operation } = call;
  const { note: reason } = actor;
  if (reason === undefined) {
    throw invalid(
      'An emergency needs a reason: say in "X-Change-Note" (--note) why this cannot wait for approval.',
    );
  }
  return new Emergency({ id: context.newId(), actor, reason, operation, request: requestOf(call) });
}

function requestOf({ method, path, type, body }: ProposedCall): ProposedRequest {
  return { method, path, ...defined({ type, body }) };
}

function accepted(proposal: Written<NamedProposal>): Response {
  return new Response(writeJson(proposalRecord(proposal)), {
    status: 202,
    headers: { 'Content-Type': 'application/json' },
  });
}
