import { hostname } from 'node:os';

/**
 * A name for this process among the nodes of an installation: the host's, for people, and a random part, because
 * several processes may share host and port, and because one that starts again has none of the old one's streams.
 */
export function newNodeName(): string {
  const random = crypto.getRandomValues(new Uint8Array(4)).toHex();
  return `${hostname()}-${random}`;
}
