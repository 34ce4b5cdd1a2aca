/** A request that is sent again and again. */
export interface RepeatedRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** With a body it is a POST, without one a GET. */
  readonly body?: string | undefined;
}

/** A request that makes a frame on every stream, for a process that sends it by itself. */
export interface ChangeRequest {
  readonly url: string;
  readonly method: 'PUT' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** A file that is written before, for services that read their flags from one. */
  readonly file?: { readonly path: string; readonly text: string };
}

/** One request as its bytes on a connection that stays open. */
export function rawRequest({ url, headers, body }: RepeatedRequest): Uint8Array {
  const { pathname, search, host } = new URL(url);
  const lines = [`${body === undefined ? 'GET' : 'POST'} ${pathname}${search} HTTP/1.1`, `Host: ${host}`];
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`);
  if (body !== undefined) lines.push(`Content-Length: ${Buffer.byteLength(body)}`);
  return new TextEncoder().encode(`${lines.join('\r\n')}\r\n\r\n${body ?? ''}`);
}
