import { isoTime, ok } from '../../management/api/answers.ts';
import type { ManagementApp } from '../../management/api/management-app.ts';
import { tagged } from '../../management/api/operation.ts';
import { TimeSchema } from '../../management/api/schemas.ts';
import { z } from '../../management/api/zod.ts';
import type { ManagementContext } from '../../management/context.ts';
import { type MadeChange, readOperationsUnder } from './audit-query.ts';
import { takeReference } from './reference-table.ts';
import { ClosingLimit, REFERENCE, type RunningReferences } from './references.ts';

const REFERENCE_QUERY = z.strictObject({
  reference: z.string().regex(REFERENCE).openapi({ description: 'The reference of the request.' }),
});

const CHANGES = z
  .array(z.object({ seq: z.number().int(), at: TimeSchema }))
  .openapi({ description: 'The changes it made, oldest first; empty if it made none.' });

const toAnswer = ({ seq, at }: MadeChange) => ({ seq, at: isoTime(at) });

/** Mounts the routes by which callers find out what became of a request without an answer. */
export function mountReferences(
  app: ManagementApp,
  context: ManagementContext,
  running: RunningReferences,
): void {
  const { mount } = tagged(app, 'History');
  const closings = new ClosingLimit();
  mount({
    method: 'get',
    path: '/api/changes',
    id: 'findOwnChanges',
    role: 'viewer',
    scope: 'self',
    summary:
      'Find what a request of your own changed, by its `X-Change-Reference`, after its answer was lost',
    query: REFERENCE_QUERY,
    answer: {
      description: 'What it changed.',
      schema: z.object({
        changes: CHANGES,
        running: z.boolean().openapi({
          description: 'Whether this node is still answering the request, so that changes may follow.',
        }),
      }),
    },
    handle: async ({ query: { reference }, actor }) => {
      // Asked first: what ends in between is in the log.
      const isRunning = running.has(actor.name, reference);
      const changes = await readOperationsUnder(context.store, { actor: actor.name, reference });
      return ok({ changes: changes.map(toAnswer), running: isRunning });
    },
  });

  mount({
    method: 'post',
    path: '/api/changes/close',
    id: 'closeOwnReference',
    role: 'viewer',
    scope: 'self',
    summary:
      'Make sure that a request of your own changes nothing any later, by its `X-Change-Reference`, unless it has changed something',
    query: REFERENCE_QUERY,
    answer: {
      description: 'What it changed, or that it changes nothing.',
      schema: z.object({
        changes: CHANGES,
        closed: z.boolean().openapi({
          description:
            'Whether the request has changed nothing and never will. `false` with no changes: unknown, because a node of an older version may answer it.',
        }),
      }),
    },
    handle: async ({ query: { reference }, actor }) => {
      context.assertWritable();
      closings.count(actor.name);
      const { changes, isClosed } = await context.store.unlogged((tx) =>
        takeReference(tx, { actor: actor.name, reference }),
      );
      return ok({ changes: changes.map(toAnswer), closed: isClosed });
    },
  });
}
