import { REFERENCE_HEADER } from '@halyard/protocol';
import { z } from '@hono/zod-openapi';
import type { Actor } from '../../domain/audit.ts';
import { invalid } from '../../domain/errors.ts';
import { isoTime, ok } from '../api/answers.ts';
import { type ManagementApp, mount } from '../api/operation.ts';
import { TimeSchema } from '../api/schemas.ts';
import type { ManagementContext } from '../context.ts';

/** Long enough that a caller does not use one twice. */
const REFERENCE = /^[A-Za-z0-9._:-]{8,64}$/;

/** The reference of a request, if it has one. `invalid_argument`. */
export function readReference(header: string | undefined): string | undefined {
  if (header === undefined || REFERENCE.test(header)) return header;
  throw invalid(
    `"${REFERENCE_HEADER}" must be 8 to 64 letters, digits, ".", "_", ":" and "-", such as a UUID.`,
  );
}

/** The requests with a reference that this process is answering. */
export class RunningReferences {
  readonly #counts = new Map<string, number>();

  /** Runs `work`; until it ends, {@link has} is true for the actor's reference. */
  async during(actor: Actor, work: () => Promise<void>): Promise<void> {
    if (actor.reference === undefined) return work();
    const place = placeOf(actor.name, actor.reference);
    this.#counts.set(place, (this.#counts.get(place) ?? 0) + 1);
    try {
      await work();
    } finally {
      const left = (this.#counts.get(place) ?? 1) - 1;
      if (left > 0) this.#counts.set(place, left);
      else this.#counts.delete(place);
    }
  }

  /** Whether a request of `actor` with this reference is being answered. */
  has(actor: string, reference: string): boolean {
    return this.#counts.has(placeOf(actor, reference));
  }
}

function placeOf(actor: string, reference: string): string {
  return `${reference} ${actor}`;
}

/** Mounts the route by which callers find out what became of a request without an answer. */
export function mountReferences(
  app: ManagementApp,
  context: ManagementContext,
  running: RunningReferences,
): void {
  mount(
    app,
    {
      method: 'get',
      path: '/api/changes',
      id: 'findOwnChanges',
      tag: 'History',
      role: 'viewer',
      scope: 'self',
      summary:
        'Find what a request of your own changed, by its `X-Change-Reference`, after its answer was lost',
      query: z.strictObject({
        reference: z.string().regex(REFERENCE).openapi({ description: 'The reference of the request.' }),
      }),
      answer: {
        status: 200,
        description: 'What it changed.',
        schema: z.object({
          changes: z
            .array(z.object({ seq: z.number().int(), at: TimeSchema }))
            .openapi({ description: 'The changes it made, oldest first; empty if it made none.' }),
          running: z.boolean().openapi({
            description: 'Whether this node is still answering the request, so that changes may follow.',
          }),
        }),
      },
    },
    async ({ query: { reference }, actor }) => {
      // Asked first: what ends in between is in the log.
      const isRunning = running.has(actor.name, reference);
      const changes = await context.store.read((reader) =>
        reader.operationsUnder({ actor: actor.name, reference }),
      );
      return ok({ changes: changes.map(({ seq, at }) => ({ seq, at: isoTime(at) })), running: isRunning });
    },
  );
}
