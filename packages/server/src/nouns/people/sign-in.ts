import { isIPv6 } from 'node:net';
import { invalid, ServiceError } from '../../domain/errors.ts';
import { passwordProblem } from '../../domain/password.ts';
import { digestOf } from '../../domain/secret.ts';
import type { ManagementContext } from '../../management/context.ts';
import { type AttemptBucket, storeSuccess, takeAttempt } from './attempt-table.ts';

/** Argon2id with 19 MiB and two rounds: the minimum that OWASP recommends. `memoryCost` in KiB. */
const ARGON2: Bun.Password.Argon2Algorithm = { algorithm: 'argon2id', memoryCost: 19_456, timeCost: 2 };

/** The hash of a random password, so that refusing an unknown account takes as long as a known one. */
const UNKNOWN_HASH =
  '$argon2id$v=19$m=19456,t=2,p=1$ue0gzMDb8IHlV9UnX/05Ix6gcaE6ux5nZ1/ESLbE+64$9FVwptajI9wujesh7y6KMAiT6x2Pl2L0pU0fKqNteuU';

/** Concurrent hashes, and how many may wait: more would take memory and CPU from flag reads. */
const LIMITS = { running: 2, waiting: 30 } as const;

/** Concurrent attempts: as many as there are places for their hashes. */
const MAX_ATTEMPTS = LIMITS.running + LIMITS.waiting;

/** Hashes and checks passwords, a few at a time. When too many wait, `rate_limited`. */
export class PasswordHashes {
  #running = 0;
  #attempts = 0;
  readonly #waiting: (() => void)[] = [];

  /** The hash to store for a password. */
  hash(password: string): Promise<string> {
    return this.#inTurn(() => Bun.password.hash(prepare(password), ARGON2));
  }

  /** Whether the password matches the hash. Without a hash it takes as long and returns false. */
  async verify(password: string, hash: string | undefined): Promise<boolean> {
    const isRight = await this.#inTurn(() => Bun.password.verify(prepare(password), hash ?? UNKNOWN_HASH));
    return isRight && hash !== undefined;
  }

  /**
   * Runs work that checks a password if there is a place for its hash; otherwise `rate_limited` at once, so that a
   * rejected attempt does not write to the database.
   */
  async admit<T>(work: () => Promise<T>): Promise<T> {
    if (this.#attempts >= MAX_ATTEMPTS || this.#waiting.length >= LIMITS.waiting) throw tooMany();
    this.#attempts++;
    try {
      return await work();
    } finally {
      this.#attempts--;
    }
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    await this.#takeTurn();
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      // Hands the turn to the longest waiting caller, or frees it.
      if (next === undefined) this.#running--;
      else next();
    }
  }

  #takeTurn(): Promise<void> | void {
    if (this.#running < LIMITS.running) {
      this.#running++;
      return;
    }
    if (this.#waiting.length >= LIMITS.waiting) throw tooMany();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}

function tooMany(): ServiceError {
  return new ServiceError('rate_limited', 'Too many people are signing in: try again shortly.', {
    retryAfterSeconds: 5,
  });
}

/** Refuses a password that is too short, too long, common, or the e-mail. `invalid_argument`; the text is never repeated. */
export function checkPassword(password: string, email: string): void {
  const problem = passwordProblem(password);
  if (problem !== undefined) throw invalid(`The password ${problem}.`);
  if (password.trim().toLowerCase() === email) throw invalid('The password must not be the e-mail address.');
}

/** One form for texts that look the same, because keyboards compose letters differently. */
function prepare(password: string): string {
  return password.normalize('NFC');
}

/**
 * How failed sign-ins are limited. An attacker cannot lock an account from elsewhere: the low limit is for one account
 * from one network. Failures from many networks at once slow the account's sign-ins.
 */
export const SIGN_IN_LIMIT = {
  windowMs: 900_000,
  /** Failures of one account from one network. */
  failures: 5,
  /** Failures of one network for all accounts: a whole office may share one address. */
  networkFailures: 100,
  /** After this many failures of one account from all networks, each attempt is delayed. */
  slowedFrom: 20,
  slowedMs: 3_000,
  /** Delayed attempts on one account on this node; more are refused. */
  slowedAtOnce: 5,
} as const;

/** How long a full bucket is refused from memory, in milliseconds: another node may have reset it. */
const REMEMBERED_MS = 1000;

/** Most full buckets in memory. */
const MAX_REMEMBERED = 10_000;

/** The parts of the node that password checks use. */
export interface SignInContext extends ManagementContext {
  readonly passwords: PasswordHashes;
  readonly signIns: SignInMemory;
}

/** The failed sign-ins that a node knows of, so that a flood of attempts does not reach the database. */
export class SignInMemory {
  /** How many attempts on each account are delayed on this node, by bucket. */
  readonly waiting = new Map<string, number>();
  /** Full buckets: until when each is full, and until when to trust that. */
  readonly #full = new Map<string, { readonly until: number; readonly trustedUntil: number }>();

  /** Records that a bucket is full. */
  noteFull(bucket: string, until: number, now: number): void {
    if (this.#full.size >= MAX_REMEMBERED) this.#full.clear();
    this.#full.set(bucket, { until, trustedUntil: Math.min(until, now + REMEMBERED_MS) });
  }

  /** Until when the bucket is full, from memory; `undefined` when the database must be asked. */
  fullUntil(bucket: string, now: number): number | undefined {
    const known = this.#full.get(bucket);
    if (known === undefined) return undefined;
    if (now < known.trustedUntil) return known.until;
    this.#full.delete(bucket);
    return undefined;
  }

  /** Forgets the full buckets of an account whose failures were reset. */
  forget(account: string): void {
    for (const bucket of this.#full.keys()) if (bucket.startsWith(account)) this.#full.delete(bucket);
  }
}

/**
 * Runs an attempt that may fail with `sign_in_failed`. It is counted before it runs, so that concurrent attempts cannot
 * exceed the limit together; with any other outcome it is subtracted again. `rate_limited` when the account has failed
 * too often from this network, or the network has, or too many attempts on the account are delayed, whether or not
 * the account exists.
 */
export async function attempt<T>(
  context: SignInContext,
  who: { readonly email: string; readonly ip?: string },
  work: () => Promise<T>,
): Promise<T> {
  const account = accountBucket(who.email);
  const network = who.ip === undefined ? undefined : networkOf(who.ip);
  const buckets: readonly AttemptBucket[] = [
    { name: account },
    { name: `${account}@${network ?? ''}`, limit: SIGN_IN_LIMIT.failures },
    ...(network === undefined ? [] : [{ name: `network:${network}`, limit: SIGN_IN_LIMIT.networkFailures }]),
  ];

  const failures = await context.passwords.admit(() => reserve(context, buckets));
  let hasFailed = false;
  try {
    if ((failures.get(account) ?? 0) > SIGN_IN_LIMIT.slowedFrom) await slow(context, account);
    return await context.passwords.admit(work);
  } catch (error) {
    hasFailed = error instanceof ServiceError && error.code === 'sign_in_failed';
    throw error;
  } finally {
    if (!hasFailed) await refund(context, buckets);
  }
}

/** Counts a failure in each bucket. A bucket that this node knows to be full is refused without asking the database. */
async function reserve(
  { signIns, store, now: clock }: SignInContext,
  buckets: readonly AttemptBucket[],
): Promise<ReadonlyMap<string, number>> {
  const now = clock();
  for (const { name } of buckets) {
    const until = signIns.fullUntil(name, now);
    if (until !== undefined) throw tooManyFailures(until - now);
  }

  const reserved = await takeAttempt(store, buckets, { now, windowMs: SIGN_IN_LIMIT.windowMs });
  if ('failures' in reserved) return reserved.failures;
  signIns.noteFull(reserved.full, reserved.fullUntil, now);
  throw tooManyFailures(reserved.fullUntil - now);
}

/** Delays an attempt on an account that fails often. */
async function slow(context: SignInContext, account: string): Promise<void> {
  const { slowedMs, slowedAtOnce } = SIGN_IN_LIMIT;
  const { waiting } = context.signIns;
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

async function refund(context: SignInContext, buckets: readonly AttemptBucket[]): Promise<void> {
  try {
    const names = buckets.map(({ name }) => name);
    await context.store.unlogged((tx) => storeSuccess(tx, names));
  } catch {
    // The outcome of the attempt matters more than a count that is one too high for a while.
  }
}

function tooManyFailures(waitMs: number): ServiceError {
  return new ServiceError(
    'rate_limited',
    `Too many failed sign-in attempts: try again in ${minutes(waitMs)}.`,
    { retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)) },
  );
}

/** The bucket of an account, by its normalized e-mail. A digest, because people type passwords into the e-mail field. */
export function accountBucket(email: string): string {
  return `account:${digestOf(email)}`;
}

/** The network of an address: 64 bits of IPv6, which belong to one customer; the whole address of IPv4. */
export function networkOf(ip: string): string {
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
