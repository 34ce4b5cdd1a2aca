import { defined } from '@halyard/protocol';
import { invalid } from '../../domain/errors.ts';
import { isoTime, ok } from '../../management/api/answers.ts';
import type { ManagementApp } from '../../management/api/management-app.ts';
import { tagged } from '../../management/api/operation.ts';
import { readCursor, writeCursor } from '../../management/api/pages.ts';
import { TimeSchema } from '../../management/api/schemas.ts';
import { z } from '../../management/api/zod.ts';
import type { ManagementContext } from '../../management/context.ts';
import { type Head, PROBLEM_KINDS, verifyAudit } from './verification.ts';

const HEAD = /^(\d{1,15}):([0-9a-f]{64})$/;

const PlaceSchema = z.object({
  seq: z.number().int(),
  position: z.number().int().openapi({ description: 'Which entry of its operation it is, from 0.' }),
});

const VerificationSchema = z
  .object({
    entries: z.number().int().openapi({ description: 'Entries that this call has compared.' }),
    blocks: z.number().int().openapi({ description: 'Blocks of the chain that this call has compared.' }),
    problems: z.array(
      z.object({
        kind: z.enum(PROBLEM_KINDS).openapi({
          description:
            'Entries were `changed`, are `missing`, or were `inserted`; a block that covers these entries was changed (`block-changed`), ' +
            'or is missing between them (`block-missing`); the log ends before the last change (`cut-off`).',
        }),
        from: PlaceSchema,
        to: PlaceSchema,
      }),
    ),
    hasHead: z
      .boolean()
      .optional()
      .openapi({ description: 'With `head`: whether the chain has it, in what this call has verified.' }),
    next: z.string().optional().openapi({
      description:
        'The `cursor` of the next call; absent when all is verified. A call ends after two seconds.',
    }),
    head: z.object({ seq: z.number().int(), hash: z.string(), at: TimeSchema }).optional().openapi({
      description:
        'The end of the chain, and when it was made; absent before the last call, and while there is none.',
    }),
    unchained: z.number().int().optional().openapi({
      description: 'Entries after the head, which are chained within seconds; in the last call.',
    }),
    redactedThrough: z
      .number()
      .int()
      .optional()
      .openapi({ description: 'The `seq` up to which personal data has been removed; in the last call.' }),
  })
  .openapi('AuditVerification');

/** Mounts the route that verifies the audit log. */
export function mountAuditChain(app: ManagementApp, context: ManagementContext): void {
  const { mount } = tagged(app, 'Audit log');
  mount({
    method: 'get',
    path: '/api/audit/verification',
    id: 'verifyAudit',
    readsAudit: true,
    isHeavy: true,
    role: 'viewer',
    scope: 'server',
    summary:
      'Compare the audit log with its chain of hashes, from the beginning or where an earlier call has stopped',
    query: z.strictObject({
      head: z
        .string()
        .regex(HEAD)
        .optional()
        .openapi({
          description: 'A head that was noted before, as `<seq>:<hash>`.',
          example: `812:${'0'.repeat(64)}`,
        }),
      cursor: z.string().max(4096).optional().openapi({ description: 'The `next` of the call before.' }),
    }),
    answer: { description: 'What was found.', schema: VerificationSchema },
    errors: ['invalid_argument', 'forbidden'],
    handle: async ({ query }) => {
      const head = query.head === undefined ? undefined : headOf(query.head);
      const from = query.cursor === undefined ? undefined : placeOf(query.cursor);

      const {
        hasHead,
        next,
        head: end,
        problems,
        ...counts
      } = await verifyAudit(context, defined({ from, head }));
      return ok({
        ...counts,
        problems: problems.map(({ kind, from, to }) => ({ kind, from: { ...from }, to: { ...to } })),
        hasHead: head && hasHead,
        next: next && writeCursor([next.number, next.hash, next.lastSeq, next.lastPosition]),
        head: end && { seq: end.seq, hash: end.hash, at: isoTime(end.chainedAt) },
      });
    },
  });
}

function headOf(text: string): Head {
  const [, seq, hash = ''] = HEAD.exec(text) ?? [];
  if (seq === undefined) throw invalid('"head" is not <seq>:<hash>, with 64 hexadecimal digits.');
  return { seq: Number(seq), hash };
}

function placeOf(cursor: string) {
  const [number, hash, lastSeq, lastPosition] = readCursor(cursor, [0, '', 0, 0] as const);
  return { number, hash, lastSeq, lastPosition };
}
