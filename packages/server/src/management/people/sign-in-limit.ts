import { isIPv6 } from 'node:net';
import type { AttemptBucket } from '../../domain/people-store.ts';
import { digestOf } from '../../domain/secret.ts';
import { ServiceError } from '../../domain/service-error.ts';
import { type Caller, normalizeEmail, type PeopleContext } from './people.ts';

/**
 * How failed sign-ins are limited. Nobody can lock an account from elsewhere: the few failures are those of one account
 * from one network. What comes from many networks at once is slowed.
 */
export const SIGN_IN_LIMIT = {
  windowMs: 900_000,
  /** Failures of one account from one network. */
  failures: 5,
  /** Failures of one network, whatever the account: a whole office may stand behind one address. */
  networkFailures: 100,
  /** From this many failures of one account on, from wherever, an attempt waits before it is made. */
  slowedFrom: 20,
  slowedMs: 3_000,
  /** Attempts on one account that may wait at once on this node; more are refused. */
  slowedAtOnce: 5,
} as const;

/** How many attempts on each account wait on this node, by its bucket. */
const waiting = new Map<string, number>();

/**
 * Makes an attempt that may end with `sign_in_failed`. It is counted before it is made, so that attempts at the same
 * moment cannot pass the limit together; whatever else comes of it, the count is taken back. `rate_limited` when the
 * account has failed too often from this network, or the network has, or too many attempts on the account wait: whoever
 * asks and whether or not there is such an account.
 */
export async function attempt<T>(
  context: PeopleContext,
  who: Caller & { readonly email: string },
  work: () => Promise<T>,
): Promise<T> {
  const account = accountBucket(who.email);
  const network = who.ip === undefined ? undefined : networkOf(who.ip);
  const buckets: readonly AttemptBucket[] = [
    { name: account },
    { name: `${account}@${network ?? ''}`, limit: SIGN_IN_LIMIT.failures },
    ...(network === undefined ? [] : [{ name: `network:${network}`, limit: SIGN_IN_LIMIT.networkFailures }]),
  ];
  const now = context.now();
  const { windowMs } = SIGN_IN_LIMIT;
  const reserved = await context.store.people.reserveAttempt(buckets, { now, windowMs });
  if ('fullUntil' in reserved) throw tooManyFailures(reserved.fullUntil - now);
  let hasFailed = false;
  try {
    if ((reserved.failures.get(account) ?? 0) > SIGN_IN_LIMIT.slowedFrom) await slow(context, account);
    return await work();
  } catch (error) {
    hasFailed = error instanceof ServiceError && error.code === 'sign_in_failed';
    throw error;
  } finally {
    if (!hasFailed) await takeBack(context, buckets);
  }
}

/** Lets an attempt on an account wait that fails often. */
async function slow(context: PeopleContext, account: string): Promise<void> {
  const { slowedMs, slowedAtOnce } = SIGN_IN_LIMIT;
  const before = waiting.get(account) ?? 0;
  if (before >= slowedAtOnce) throw tooManyFailures(slowedMs);
  waiting.set(account, before + 1);
  try {
    await (context.pause ?? Bun.sleep)(slowedMs);
  } finally {
    const left = (waiting.get(account) ?? 1) - 1;
    if (left === 0) waiting.delete(account);
    else waiting.set(account, left);
  }
}

async function takeBack(context: PeopleContext, buckets: readonly AttemptBucket[]): Promise<void> {
  try {
    for (const { name } of buckets) await context.store.people.refundAttempt(name);
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
  return `account:${digestOf(normalizeEmail(email))}`;
}

/** The network of an address: of IPv6 64 bits, as one customer has them all; of IPv4 the address itself. */
function networkOf(ip: string): string {
  if (!isIPv6(ip)) return ip;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(ip);
  if (mapped?.[1] !== undefined) return mapped[1];
  const [head = '', tail = ''] = ip.split('::');
  const groups = head.split(':').filter((group) => group !== '');
  const rest = tail.split(':').filter((group) => group !== '');
  const zeros = ip.includes('::')
    ? Array<string>(Math.max(0, 8 - groups.length - rest.length)).fill('0')
    : [];
  const network = [...groups, ...zeros, ...rest].slice(0, 4);
  return `${network.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`;
}

function minutes(ms: number): string {
  const count = Math.max(1, Math.ceil(ms / 60_000));
  return count === 1 ? 'a minute' : `${count} minutes`;
}
