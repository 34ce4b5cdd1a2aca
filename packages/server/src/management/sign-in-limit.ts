import { isIPv6 } from 'node:net';
import { ServiceError } from '../domain/service-error.ts';
import { type Caller, normalizeEmail, type PeopleContext } from './people.ts';

/** How many failures in which time an account and an address may have. */
export const SIGN_IN_LIMIT = { failures: 5, windowMs: 900_000 } as const;

/** An attempt that counts as failed until it is taken back. */
export interface Attempt {
  /** Takes the attempt back, in every bucket. */
  refund(): Promise<void>;
}

/**
 * Counts an attempt before it is made. `rate_limited` when the account or the address has failed too often, whoever
 * asks and whether or not there is such an account.
 */
export async function beginAttempt(
  context: PeopleContext,
  who: Caller & { readonly email: string },
): Promise<Attempt> {
  const buckets = [accountBucket(who.email), ...(who.ip === undefined ? [] : [addressBucket(who.ip)])];
  const now = context.now();
  const fullUntil = await context.store.people.reserveAttempt(buckets, { now, ...SIGN_IN_LIMIT });
  if (fullUntil !== undefined) {
    throw new ServiceError(
      'rate_limited',
      `There were too many failed attempts to sign in: try again in ${minutesUntil(fullUntil, now)}.`,
      { retryAfterSeconds: Math.max(1, Math.ceil((fullUntil - now) / 1000)) },
    );
  }
  return {
    refund: async () => {
      for (const bucket of buckets) await context.store.people.refundAttempt(bucket);
    },
  };
}

/** The bucket of an account. A digest: people type their password where the e-mail goes. */
export function accountBucket(email: string): string {
  return `account:${Bun.SHA256.hash(normalizeEmail(email), 'hex')}`;
}

/** An address; of IPv6 the network, as one customer has a whole one. */
function addressBucket(ip: string): string {
  if (!isIPv6(ip)) return `address:${ip}`;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(ip);
  if (mapped !== null) return `address:${mapped[1]}`;
  const [head = '', tail = ''] = ip.split('::');
  const groups = head.split(':').filter((group) => group !== '');
  const rest = tail.split(':').filter((group) => group !== '');
  const zeros = ip.includes('::')
    ? Array<string>(Math.max(0, 8 - groups.length - rest.length)).fill('0')
    : [];
  const network = [...groups, ...zeros, ...rest].slice(0, 4).map((group) => group.toLowerCase());
  return `address:${network.join(':')}::/64`;
}

function minutesUntil(at: number, now: number): string {
  const minutes = Math.max(1, Math.ceil((at - now) / 60_000));
  return minutes === 1 ? 'a minute' : `${minutes} minutes`;
}
