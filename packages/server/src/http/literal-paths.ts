import type { BunRequest } from 'bun';
import { pathOf } from './request.ts';

/** Segments of the longest path that is answered, those of the evaluation interface aside. */
export const DEEPEST = 10;

/**
 * Escapes of characters that never need one (RFC 3986, 2.3): a letter, a digit, `-`, `.`, `_`, `~`. Frameworks decode
 * them before they choose a route, proxies often do not.
 */
const NEEDLESS_ESCAPE = /%(2[de]|3\d|[46][1-9a-f]|[57][\da]|5f|7e)/i;

/** The paths of up to {@link DEEPEST} segments, with and without a slash at the end, as patterns of `Bun.serve`. */
export const ANY_PATH: readonly string[] = ['/', ...patterns()];

function* patterns(): Generator<string> {
  let path = '';
  for (let segment = 1; segment <= DEEPEST; segment++) {
    path += `/:segment${segment}`;
    yield path;
    yield `${path}/`;
  }
}

/**
 * Whether a request to one of {@link ANY_PATH} was sent with the very path that its `url` has. Bun resolves `..`, `\` and
 * their like in `url`, so a path that a proxy let pass would become another one, but its router gives the segments as
 * they were sent, decoded.
 */
export function isLiteral(request: BunRequest): boolean {
  const path = pathOf(request);
  const segments = path.split('/').slice(1);
  // The router leaves out the empty one after a slash at the end, and that of `/`.
  if (segments.at(-1) === '') segments.pop();
  const sent = Object.values(request.params);
  return (
    !NEEDLESS_ESCAPE.test(path) &&
    segments.length === sent.length &&
    segments.every((segment, index) => decode(segment) === sent[index])
  );
}

function decode(segment: string): string | undefined {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    // Not UTF-8: no path has such a segment.
    return undefined;
  }
}
