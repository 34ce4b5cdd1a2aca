import type { Approval } from '../../domain/approval.ts';
import type { Actor } from '../../domain/audit.ts';
import { invalid } from '../../domain/errors.ts';
import { accept } from './body.ts';
import { z } from './zod.ts';

/** A call that is proposed, or made in an emergency. */
export interface ProposedCall {
  readonly actor: Actor;
  /** The id of the operation. */
  readonly operation: string;
  readonly method: string;
  /** Path and query, without what asks for the proposal. */
  readonly path: string;
  /** The media type of the body. */
  readonly type?: string;
  readonly body?: string;
  /** Whether it waits for a person once it is approved. */
  readonly hold: boolean;
}

/** Takes proposals instead of changes. The nouns implement it. */
export interface ProposalDesk {
  /** Runs an operation without effect, and keeps what it would do as a proposal. Answers 202 with it. */
  propose(call: ProposedCall, run: (actor: Actor) => Promise<Response>): Promise<Response>;
  /** The approval of a change that cannot wait. The note of the actor says why. */
  emergency(call: ProposedCall): Approval;
}

/** What a request asks for instead of a change with the approval that it needs. */
export type Wish = 'propose' | 'hold' | 'emergency';

/** The query members of every operation that may change environments that require approvals. */
export const wishQuery = {
  propose: z.enum(['true', 'false', 'hold']).default('false').openapi({
    description:
      '`true`: answer 202 with a proposal that other people approve; nothing is changed until then. `hold`: and then it waits until a person applies it.',
  }),
  emergency: z.enum(['true', 'false']).default('false').openapi({
    description:
      '`true`: change it without approval, because it cannot wait. The note (`X-Change-Note`) says why, and another person has to acknowledge it.',
  }),
} as const;

const WishSchema = z.object(wishQuery);

/** Takes the wish out of a query; `undefined` for an ordinary request. */
export function takeWish(query: Record<string, string>): Wish | undefined {
  if (query.propose === undefined && query.emergency === undefined) return undefined;
  const { propose, emergency } = accept(WishSchema, query, 'query');
  delete query.propose;
  delete query.emergency;
  if (propose !== 'false' && emergency === 'true')
    throw invalid('"propose" and "emergency" exclude each other: send one of them.');
  if (propose !== 'false') return propose === 'hold' ? 'hold' : 'propose';
  return emergency === 'true' ? 'emergency' : undefined;
}
