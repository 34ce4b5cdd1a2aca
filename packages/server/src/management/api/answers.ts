import { type Writable, writeJson } from '../../domain/raw-json.ts';

/** Answers 200 with JSON. */
export function ok(body: Writable, headers: Readonly<Record<string, string>> = {}): Response {
  return jsonResponse(200, body, headers);
}

/** Answers 201 with JSON. */
export function created(body: Writable, headers: Readonly<Record<string, string>> = {}): Response {
  return jsonResponse(201, body, headers);
}

/** Answers 204. */
export function noContent(): Response {
  return new Response(null, { status: 204 });
}

/** A time as the interface writes it: ISO 8601, UTC. Input in epoch milliseconds. */
export function isoTime(at: number): string {
  return new Date(at).toISOString();
}

/** As {@link isoTime} for a time that may be absent. */
export function isoTimeOr(at: number | undefined): string | undefined {
  return at === undefined ? undefined : isoTime(at);
}

function jsonResponse(status: number, body: Writable, headers: Readonly<Record<string, string>>): Response {
  return new Response(writeJson(body), {
    status,
    headers: { 'Content-Type': 'application/json', ...headers },
  });
}
