/** One GET request as its bytes on a connection that stays open. */
export function rawRequest(url: string, headers: Readonly<Record<string, string>>): Uint8Array {
  const { pathname, search, host } = new URL(url);
  const lines = [`GET ${pathname}${search} HTTP/1.1`, `Host: ${host}`];
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`);
  return new TextEncoder().encode(`${lines.join('\r\n')}\r\n\r\n`);
}
