import { isIPv6 } from 'node:net';
import { ServiceError } from '../domain/service-error.ts';
import { type Caller, normalizeEmail, type PeopleContext } from './people.ts';

/** How many failures in which time an account and an address may have. */
export const SIGN_IN_LIMIT = { failures: 5, windowMs: 900_000 } as const;

/**
 * Makes an attempt that may end with `sign_in_failed`. It is counted before it is made, so that attempts at the same
 * moment cannot pass the limit together; whatever else comes of it, the count is taken back. `rate_limited` when the
 * account or the address has failed too often, whoever asks and whether or not there is such an account.
 */
export async function attempt<T>(
  context: PeopleContext,
  who: Caller & { readonly email: string },
  work: () => Promise<T>,
): Promise<T> {
  const buckets = [accountBucket(who.email), ...(who.ip === undefined ? [] : [addressBucket(who.ip)])];
  const now = context.now();
  const fullUntil = await context.store.people.reserveAttempt(buckets, { now, ...SIGN_IN_LIMIT });
  if (fullUntil !== undefined) throw tooManyFailures(fullUntil - now);
  let hasFailed = false;
  try {
    return await work();
  } catch (error) {
    hasFailed = error instanceof ServiceError && error.code === 'sign_in_failed';
    throw error;
  } finally {
    if (!hasFailed) await takeBack(context, buckets);
  }
}

async function takeBack(context: PeopleContext, buckets: readonly string[]): Promise<void> {
  try {
    for (const bucket of buckets) await context.store.people.refundAttempt(bucket);
  } catch {
    // The database went away, and what came of the attempt matters more: the count stays one too high for a while.
  }
}

function tooManyFailures(waitMs: number): ServiceError {
  return new ServiceError(
    'rate_limited',
    `There were too many failed attempts to sign in: try again in ${minutes(waitMs)}.`,
    { retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)) },
  );
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

function minutes(ms: number): string {
  const count = Math.max(1, Math.ceil(ms / 60_000));
  return count === 1 ? 'a minute' : `${count} minutes`;
}
