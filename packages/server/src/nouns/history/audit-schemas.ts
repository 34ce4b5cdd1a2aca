import type { Actor, AuditEntry } from '../../domain/audit.ts';
import { RawJson, type Writable } from '../../domain/raw-json.ts';
import { isoTime } from '../../management/api/answers.ts';
import { NameSchema, TimeSchema } from '../../management/api/schemas.ts';
import { z } from '../../management/api/zod.ts';
import { seesPeople } from '../../management/rights.ts';

/** An entry of the audit log as the API returns it. */
export const AuditEntrySchema = z
  .object({
    id: z.string(),
    seq: z.number().int(),
    operation: z.number().int().openapi({
      description:
        'The number of its change: all entries of one operation share it. See `/api/changes/{seq}`.',
    }),
    actor: z.string(),
    ip: z.string().optional().openapi({ description: 'The client address. Only shown to administrators.' }),
    note: z.string().optional(),
    action: z.string().openapi({ example: 'flag.changed' }),
    project: NameSchema.optional(),
    environment: NameSchema.optional(),
    target: z.string(),
    before: z.unknown().optional(),
    after: z.unknown().optional(),
    at: TimeSchema,
  })
  .openapi('AuditEntry');

/** An entry with the names of its project and environment, where they still exist. */
export interface NamedAuditEntry extends AuditEntry {
  readonly project?: string;
  readonly environment?: string;
}

/** An entry as the API returns it to `reader`; only administrators see the client address. */
export function entryRecord(
  entry: NamedAuditEntry,
  reader: Actor,
): { readonly [member: string]: Writable | undefined } {
  const { id, seq, operation, actor, ip, note, action, project, environment, target, before, after, at } =
    entry;
  const what = {
    id,
    seq,
    operation,
    actor,
    ip: seesPeople(reader) ? ip : undefined,
    note,
    action,
    project,
    environment,
    target,
  };
  return { ...what, before: readableJson(before), after: readableJson(after), at: isoTime(at) };
}

/** A text from the log as JSON; a damaged one as a string, so that the list can still be read. */
function readableJson(text: string | undefined): Writable | undefined {
  if (text === undefined) return undefined;
  try {
    JSON.parse(text);
    return new RawJson(text);
  } catch {
    return text;
  }
}
