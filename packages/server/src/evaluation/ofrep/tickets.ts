import { timingSafeEqual } from 'node:crypto';
import type { KeyEntry } from '../catalog/key-index.ts';

/** Tickets change once in this time, so that the address of a stream stays the same until then, in milliseconds. */
const WINDOW_MS = 3_600_000;

/** Longer ones are refused before they are hashed. */
const MAX_TICKET_LENGTH = 256;

/**
 * When a ticket issued now ends, in epoch milliseconds: with the next hour, so that it is good for one hour at least and
 * two at most, and all tickets of an hour are the same.
 */
export function ticketExpiry(now: number): number {
  return (Math.floor(now / WINDOW_MS) + 2) * WINDOW_MS;
}

/**
 * A ticket, which lets an address open the event stream of one environment for one key. It is signed with the digest of
 * the key, which every node knows, so that each node can check it without a database; and it ends with the key, whose
 * digest the nodes then forget. It is a secret, though one that only says when flags change.
 */
export function issueTicket(
  { id, digest }: Pick<KeyEntry, 'id' | 'digest'>,
  environmentId: string,
  now: number,
): string {
  const claims = `${id}.${environmentId}.${ticketExpiry(now)}`;
  return `${claims}.${sign(claims, digest)}`;
}

/** Checks a ticket. `findKey` finds a live key by its public id. Every ticket that is not valid gives `undefined`. */
export function checkTicket<Key extends Pick<KeyEntry, 'digest'>>(
  ticket: string,
  findKey: (id: string) => Key | undefined,
  now: number,
): { readonly key: Key; readonly environmentId: string } | undefined {
  if (ticket.length > MAX_TICKET_LENGTH) return undefined;
  const [, claims = '', id = '', environmentId = '', expiry, signature = ''] =
    /^(([^.]+)\.([^.]+)\.(\d+))\.([A-Za-z0-9_-]{43})$/.exec(ticket) ?? [];
  const key = findKey(id);
  if (key === undefined || !isSame(sign(claims, key.digest), signature)) return undefined;
  // No node issues longer ones; the clock of another may be in the next hour already.
  const isTimely = Number(expiry) > now && Number(expiry) <= ticketExpiry(now) + WINDOW_MS;
  return isTimely ? { key, environmentId } : undefined;
}

/** The purpose is part of what is signed: no other signature made with a digest is ever a ticket. */
function sign(claims: string, digest: string): string {
  return new Bun.CryptoHasher('sha256', digest).update(`halyard event stream:${claims}`).digest('base64url');
}

/** Takes the same time wherever they differ. Both have the length of a signature. */
function isSame(a: string, b: string): boolean {
  return timingSafeEqual(Buffer.from(a), Buffer.from(b));
}
