import { isRecord, PENDING_HEADER } from '@halyard/protocol';
import { isoTime, isTime } from '../../domain/iso-time.ts';
import type { ProjectKey } from '../../domain/project.ts';
import { type Writable, writeJson } from '../../domain/raw-json.ts';
import type { Written } from '../write.ts';

export { isoTime };

/** The headers of every answer: it is for this caller now, and no page runs it or frames it. */
export const ANSWER_HEADERS = {
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
} as const;

/** Headers by name. */
type HeaderFields = Readonly<Record<string, string>>;

/** Answers 200 with JSON. */
export function ok(body: Writable, headers: HeaderFields = {}): Response {
  return jsonResponse(200, writeJson(body), { seq: seqOf(body), headers });
}

/** Answers 201 with JSON. */
export function created(body: Writable, headers: HeaderFields = {}): Response {
  return jsonResponse(201, writeJson(body), { seq: seqOf(body), headers });
}

/** Answers 200 with JSON that is written already; `seq` is the number of the change, if it was one. */
export function okText(
  text: string,
  { seq, headers = {} }: { readonly seq: number | undefined; readonly headers?: HeaderFields },
): Response {
  return jsonResponse(200, text, { seq, headers });
}

/** Answers 200 with the position of the change in the log, for a write that leaves no record. */
export function done({ seq }: Written<object>, headers: HeaderFields = {}): Response {
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

/** Copied for each answer, which takes half the time of setting them one by one. */
const JSON_HEADERS = new Headers({ ...ANSWER_HEADERS, 'Content-Type': 'application/json' });

function jsonResponse(
  status: number,
  text: string,
  { seq, headers }: { readonly seq: number | undefined; readonly headers: HeaderFields },
): Response {
  const all = new Headers(JSON_HEADERS);
  for (const [name, value] of Object.entries(headers)) all.set(name, value);
  if (seq !== undefined) all.set(SEQ_HEADER, String(seq));
  return new Response(text, { status, headers: all });
}

function seqOf(body: Writable): number | undefined {
  return isRecord(body) && typeof body.seq === 'number' ? body.seq : undefined;
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
