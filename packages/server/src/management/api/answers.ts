import { type Writable, writeJson } from '../../domain/raw-json.ts';
import type { Written } from '../commit.ts';

/** Answers 200 with JSON. */
export function ok(body: Writable, headers: Readonly<Record<string, string>> = {}): Response {
  return jsonResponse(200, body, headers);
}

/** Answers 201 with JSON. */
export function created(body: Writable, headers: Readonly<Record<string, string>> = {}): Response {
  return jsonResponse(201, body, headers);
}

/** Answers 200 with where the change stands in the log: what a write has to say that leaves no record. */
export function done({ seq }: Written<object>, headers: Readonly<Record<string, string>> = {}): Response {
  return ok({ seq }, headers);
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
