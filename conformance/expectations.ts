import { expect } from 'bun:test';
import { ERROR_STATUS, type ErrorCode } from '@halyard/protocol';

/** An answer that can be checked as an error: a fetched one, or one read from a socket. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
}

/** Expects the specified answer of an error code: status, content type and a body of exactly three strings. */
export async function expectError(answer: Response, code: ErrorCode, about = ''): Promise<string> {
  return expectErrorText(answer, await answer.text(), code, about);
}

/** As {@link expectError}, for a body that has been read. Returns the body's `docs`. */
export function expectErrorText(answer: Answer, text: string, code: ErrorCode, about = ''): string {
  expect({ about, status: answer.status, error: errorOf(text) }).toEqual({
    about,
    status: ERROR_STATUS[code],
    error: code,
  });
  expect(answer.headers.get('Content-Type')).toBe('application/json');
  const body: unknown = JSON.parse(text);
  expect(body).toEqual({
    error: code,
    message: expect.any(String),
    docs: expect.stringMatching(new RegExp(`^https?://.+/errors/${code}$`)),
  });
  // `toEqual` above has just proved the shape.
  return (body as { docs: string }).docs;
}

function errorOf(text: string): unknown {
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === 'object' && body !== null && 'error' in body ? body.error : body;
  } catch {
    return `not JSON: ${JSON.stringify(text.slice(0, 200))}`;
  }
}
