import { isRecord, PENDING_HEADER } from '@halyard/protocol';
import { isoTime, isTime } from '../../domain/iso-time.ts';
import type { ProjectKey } from '../../domain/project.ts';
import { type Writable, writeJson } from '../../domain/raw-json.ts';
import type { Written } from '../write.ts';

export { isoTime };

/** Answers 200 with JSON. */
export function ok(body: Writable, headers: Readonly<Record<string, string>> = {}): Response {
  return jsonResponse(200, body, headers);
}

/** Answers 201 with JSON. */
export function created(body: Writable, headers: Readonly<Record<string, string>> = {}): Response {
  return jsonResponse(201, body, headers);
}

/** Answers 200 with the position of the change in the log, for a write that leaves no record. */
export function done({ seq }: Written<object>, headers: Readonly<Record<string, string>> = {}): Response {
  return ok({ seq }, headers);
}

/** As {@link isoTime} for a time that may be absent; that of a damaged record is. */
export function isoTimeOr(at: number | undefined): string | undefined {
  return isTime(at) ? isoTime(at) : undefined;
}

/** `damaged: true` for a key or token whose times cannot be read; otherwise no members. */
export function damageOf(record: Pick<ProjectKey, 'createdAt' | 'expiresAt' | 'revokedAt' | 'lastUsedAt'>) {
  const { createdAt, expiresAt, revokedAt, lastUsedAt } = record;
  const times = [createdAt, expiresAt, revokedAt, lastUsedAt];
  return times.every((time) => time === undefined || isTime(time)) ? {} : ({ damaged: true } as const);
}

/** Carries the number of a change from its answer to {@link notePending}, also out of the management thread. */
const SEQ_HEADER = 'X-Change-Seq';

function jsonResponse(status: number, body: Writable, headers: Readonly<Record<string, string>>): Response {
  const seq = isRecord(body) && typeof body.seq === 'number' ? body.seq : undefined;
  return new Response(writeJson(body), {
    status,
    headers: {
      'Content-Type': 'application/json',
      ...headers,
      ...(seq !== undefined && { [SEQ_HEADER]: String(seq) }),
    },
  });
}

/** Says on the answer of a write whether this node has yet to serve the change. (Spec: S14.7) */
export function notePending(
  { method, headers }: { readonly method: string; readonly headers: Headers },
  hasApplied: (seq: number) => boolean,
): void {
  const seq = headers.get(SEQ_HEADER);
  if (seq === null) return;
  headers.delete(SEQ_HEADER);
  if (method !== 'GET' && method !== 'HEAD' && !hasApplied(Number(seq))) headers.set(PENDING_HEADER, 'true');
}
