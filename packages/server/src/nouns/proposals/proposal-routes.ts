import { defined, type ErrorCode, PROPOSAL_STATUSES } from '@halyard/protocol';
import { z } from '@hono/zod-openapi';
import type { Actor } from '../../domain/audit.ts';
import { ok } from '../../management/api/answers.ts';
import { type ManagementApp, tagged } from '../../management/api/operation.ts';
import { ProposalSchema } from '../../management/api/proposal-schemas.ts';
import type { ManagementContext } from '../../management/context.ts';
import type { Written } from '../../management/write.ts';
import type { NamedProposal } from './proposal.ts';
import { proposalRecord } from './proposal-schemas.ts';
import {
  acknowledgeProposal,
  applyProposal,
  approveProposal,
  getProposal,
  listProposals,
  type ProposalPlace,
  type Repeat,
  rejectProposal,
  withdrawProposal,
} from './proposals.ts';

const tag = 'Proposals';
const path = '/api/projects/{project}/proposals';
const one = `${path}/{id}` as const;
const gone = ['not_found', 'proposal_closed'] as const;
const guarded = [...gone, 'confirmation_required', 'revision_conflict', 'approval_required'] as const;
const answer = { description: 'The proposal.', schema: ProposalSchema };

/** Mounts the routes of proposals. An operation that is proposed has its own route. */
export function mountProposals(app: ManagementApp, context: ManagementContext, repeat: Repeat): void {
  const { mount } = tagged(app, tag);
  mount({
    method: 'get',
    path,
    id: 'listProposals',
    isHeavy: true,
    role: 'viewer',
    summary:
      'List proposals: those that wait for a decision, the oldest first, then the newest of the others',
    query: z.strictObject({
      status: z
        .enum([...PROPOSAL_STATUSES, 'waiting'])
        .optional()
        .openapi({
          description: '`waiting`: all that wait for a decision, emergencies included.',
        }),
    }),
    answer: { description: 'The proposals.', schema: z.object({ proposals: z.array(ProposalSchema) }) },
    handle: async ({ params: { project }, query: { status }, actor }) => {
      const proposals = await listProposals(context, actor, { project, ...defined({ status }) });
      return ok({ proposals: proposals.map((each) => proposalRecord(each)) });
    },
  });

  mount({
    method: 'get',
    path: one,
    id: 'getProposal',
    role: 'viewer',
    summary: 'Get a proposal',
    answer,
    errors: ['not_found'],
    handle: async ({ params, actor }) => {
      const proposal = await getProposal(context, actor, params);
      return ok(proposalRecord(proposal, proposal.request));
    },
  });

  for (const { verb, run, ...described } of decisions(context, repeat)) {
    mount({
      method: 'post',
      path: `${path}/{id}/${verb}`,
      id: `${verb}Proposal`,
      role: 'editor',
      answer,
      ...described,
      handle: async ({ params, actor }) => ok(proposalRecord(await run(actor, params))),
    });
  }
}

interface Decision {
  readonly verb: string;
  readonly summary: string;
  /** The proposed operation may be heavy. */
  readonly isHeavy?: true;
  readonly errors: readonly ErrorCode[];
  readonly run: (actor: Actor, place: ProposalPlace) => Promise<Written<NamedProposal>>;
}

/** What people decide about a proposal. The note of the request is kept with it. */
function decisions(context: ManagementContext, repeat: Repeat): readonly Decision[] {
  return [
    {
      verb: 'approve',
      isHeavy: true,
      summary: 'Approve a proposal of another person; the last approval that it needs makes the change',
      errors: [...guarded, 'already_exists'],
      run: (actor, place) => approveProposal(context, repeat, actor, place),
    },
    {
      verb: 'apply',
      isHeavy: true,
      summary: 'Make the change of a proposal that was approved and held',
      errors: guarded,
      run: (actor, place) => applyProposal(context, repeat, actor, place),
    },
    {
      verb: 'reject',
      summary: 'Reject a proposal of another person',
      errors: gone,
      run: (actor, place) => rejectProposal(context, actor, place),
    },
    {
      verb: 'withdraw',
      summary: 'Withdraw a proposal',
      errors: gone,
      run: (actor, place) => withdrawProposal(context, actor, place),
    },
    {
      verb: 'acknowledge',
      summary: 'Acknowledge a change that another person made in an emergency',
      errors: gone,
      run: (actor, place) => acknowledgeProposal(context, actor, place),
    },
  ];
}
