import { defined, type ErrorCode, PROPOSAL_STATUSES } from '@halyard/protocol';
import { ok } from '../../management/api/answers.ts';
import type { ManagementApp } from '../../management/api/management-app.ts';
import { tagged } from '../../management/api/operation.ts';
import { ProposalSchema } from '../../management/api/proposal-schemas.ts';
import { z } from '../../management/api/zod.ts';
import { proposalRecord } from './proposal-schemas.ts';
import {
  acknowledgeProposal,
  applyProposal,
  approveProposal,
  type Decision,
  getProposal,
  listProposals,
  type ProposalContext,
  rejectProposal,
  withdrawProposal,
} from './proposals.ts';

const tag = 'Proposals';
const path = '/api/projects/{project}/proposals';
const one = `${path}/{id}` as const;
const gone = ['not_found', 'proposal_closed'] as const;
const guarded = [...gone, 'confirmation_required', 'revision_conflict', 'approval_required'] as const;
const answer = { description: 'The proposal.', schema: ProposalSchema };

/** What people decide about a proposal. The note of the request is kept with it. */
const DECISIONS: readonly {
  readonly verb: string;
  readonly summary: string;
  /** The proposed operation may be heavy. */
  readonly isHeavy?: true;
  readonly errors: readonly ErrorCode[];
  readonly decide: Decision;
}[] = [
  {
    verb: 'approve',
    isHeavy: true,
    summary: 'Approve a proposal of another person; the last approval that it needs makes the change',
    errors: [...guarded, 'already_exists'],
    decide: approveProposal,
  },
  {
    verb: 'apply',
    isHeavy: true,
    summary: 'Make the change of a proposal that was approved and held',
    errors: guarded,
    decide: applyProposal,
  },
  {
    verb: 'reject',
    summary: 'Reject a proposal of another person',
    errors: gone,
    decide: rejectProposal,
  },
  {
    verb: 'withdraw',
    summary: 'Withdraw a proposal',
    errors: gone,
    decide: withdrawProposal,
  },
  {
    verb: 'acknowledge',
    summary: 'Acknowledge a change that another person made in an emergency',
    errors: gone,
    decide: acknowledgeProposal,
  },
];

/** Mounts the routes of proposals. An operation that is proposed has its own route. */
export function mountProposals(app: ManagementApp, context: ProposalContext): void {
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

  for (const { verb, decide, ...described } of DECISIONS) {
    mount({
      method: 'post',
      path: `${path}/{id}/${verb}`,
      id: `${verb}Proposal`,
      role: 'editor',
      answer,
      ...described,
      handle: async ({ params, actor }) => ok(proposalRecord(await decide(context, actor, params))),
    });
  }
}
