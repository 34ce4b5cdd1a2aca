import { formatSecret } from '@halyard/protocol';
import type { Actor } from '../../domain/audit.ts';
import { ServiceError } from '../../domain/errors.ts';
import { SESSION_LIFETIME, type SessionLifetime } from '../../domain/rights.ts';
import { digestOf } from '../../domain/secret.ts';
import type { Caller } from '../../management/context.ts';
import { type Written, writeDone, writeRecord } from '../../management/write.ts';
import type { Tx } from '../../storage/tx.ts';
import { sessionLifetime } from '../sso/sso.ts';
import { removeFailures } from './attempt-table.ts';
import { cookieIn, removeCookie, setCookie } from './cookies.ts';
import {
  type ActiveSession,
  type Credentials,
  type FoundSession,
  isLive,
  type Operator,
  type Session,
} from './operator.ts';
import { readCredentials, storePassword } from './operator-table.ts';
import { normalizeEmail, operatorActor, type PeopleContext } from './people.ts';
import { insertSession, readSession, removeSession, removeSessionsOf, storeUse } from './session-table.ts';
import { accountBucket, attempt, checkPassword } from './sign-in.ts';

/** The prefix of every session id, for secret scanners and the log. */
const SESSION_PREFIX = 'hss_';

/** How exact "last used" is, in milliseconds. */
const RESOLUTION_MS = 60_000;

/** A session that was just started, with its id: the secret for the cookie. */
export interface StartedSession extends ActiveSession {
  readonly id: string;
}

/** An e-mail and a password, as typed. */
interface SignIn {
  readonly email: string;
  readonly password: string;
}

/**
 * Signs an operator in: a new session with a new id. `sign_in_failed` for a wrong password as for an unknown account,
 * in about the same time; `rate_limited` after too many failures.
 */
export function signIn(
  context: PeopleContext,
  input: SignIn,
  caller: Caller,
): Promise<Written<StartedSession>> {
  const email = normalizeEmail(input.email);
  return attempt(context, { email, ...caller }, async () => {
    const { operator, passwordHash } = await verifyPassword(context, { email, password: input.password });

    return writeRecord(context, operatorActor(operator, caller), async (tx) => {
      const known = await lockCredentials(tx, { operator, passwordHash });
      return startSession(context, tx, known, caller);
    });
  });
}

/**
 * The current operator, whose password is still the one that was checked. It is locked until commit, so that no session
 * starts after a new password has ended them all. `sign_in_failed`.
 */
async function lockCredentials(
  tx: Tx,
  { operator: { email }, passwordHash }: Credentials,
): Promise<Operator> {
  await tx.lockPeople();
  const now = await readCredentials(tx, email);
  // The account was changed or removed while the hash was computed.
  if (now?.passwordHash !== passwordHash) throw signInFailed();
  return now.operator;
}

async function verifyPassword(context: PeopleContext, { email, password }: SignIn): Promise<Credentials> {
  const known = await context.store.read((db) => readCredentials(db, email));
  // An operator of single sign-on has none.
  const isRight = await context.passwords.verify(password, known?.passwordHash || undefined);
  if (!isRight || known === undefined) throw signInFailed();
  return known;
}

/** Starts a session in a transaction, ends the one that it replaces in the browser, and resets the account's failed attempts. */
export async function startSession(
  context: PeopleContext,
  tx: Tx,
  operator: Operator,
  { sessionDigest }: Caller,
): Promise<StartedSession> {
  const replaced = sessionDigest === undefined ? undefined : await readSession(tx, sessionDigest);
  if (replaced !== undefined) await removeSession(tx, replaced.session.digest, replaced.operator);

  const id = SESSION_PREFIX + formatSecret(context.randomBytes(32));
  const now = context.now();
  const session = { digest: digestOf(id), operatorId: operator.id, createdAt: now, lastUsedAt: now };
  await insertSession(tx, session, operator);

  const account = accountBucket(operator.email);
  await removeFailures(tx, account);
  context.signIns.forget(account);
  return { id, session, operator: { ...operator, lastSeenAt: now } };
}

/** The session of this id; `undefined` for an unknown, ended or malformed id. */
export async function verifySession(context: PeopleContext, id: string): Promise<FoundSession | undefined> {
  if (!id.startsWith(SESSION_PREFIX) || id.length > 100) return undefined;
  const found = await context.store.read((db) => readSession(db, digestOf(id)));
  if (found === undefined) return undefined;

  const lifetime = sessionLifetime(found.operator, context.sso);
  if (!isLive(found.session, lifetime, context.now())) return undefined;
  return { ...found, credential: { ...found.credential, longestMs: lifetime.absoluteMs } };
}

/** Records that a session is used now: in the background, once a minute. Reports failed writes to `onFailure`. */
export function noteSessionUse(
  context: PeopleContext,
  session: Session,
  onFailure: (error: unknown) => void,
): void {
  const now = context.now();
  if (now - session.lastUsedAt < RESOLUTION_MS) return;
  void context.store.unlogged((tx) => storeUse(tx, session, now)).catch(onFailure);
}

/** Signs out: the session ends on all nodes. */
export function signOut(
  context: PeopleContext,
  { session, operator }: ActiveSession,
  caller: Caller,
): Promise<Written<object>> {
  return writeDone(context, operatorActor(operator, caller), (tx) =>
    removeSession(tx, session.digest, operator),
  );
}

/**
 * Changes the password of the session's operator and ends all other sessions. `sign_in_failed` when the current one is
 * wrong, which counts as a failed sign-in; `invalid_argument`, `rate_limited`.
 */
export async function changePassword(
  context: PeopleContext,
  actor: Actor,
  { session, operator: { email } }: ActiveSession,
  { current, next }: { readonly current: string; readonly next: string },
): Promise<Written<object>> {
  checkPassword(next, email);

  return attempt(context, { email }, async () => {
    const checked = await verifyPassword(context, { email, password: current });
    const hash = await context.passwords.hash(next);

    return writeDone(context, actor, async (tx) => {
      const operator = await lockCredentials(tx, checked);
      await storePassword(tx, operator, hash);
      await removeSessionsOf(tx, operator, session.digest);
    });
  });
}

function signInFailed(): ServiceError {
  return new ServiceError(
    'sign_in_failed',
    'The e-mail address or the password is wrong: check both and try again.',
  );
}

/** The name of the session's cookie. */
export const SESSION_COOKIE = 'halyard_session';

/**
 * The session id in the request's cookies; `undefined` when there is no such cookie. At a public address with HTTPS, only a
 * cookie that was set over HTTPS counts; elsewhere, such as on http://localhost, browsers may refuse that one.
 */
export function sessionIdIn(request: Request, publicUrl: string): string | undefined {
  return cookieIn(request, SESSION_COOKIE, { isSecure: isAtHttps(request, publicUrl) });
}

/** The `Set-Cookie` header that starts a session in the browser that sent `request` from a page of this server. */
export function startCookie(request: Request, id: string, publicUrl: string): string {
  const isSecure =
    request.headers.get('Origin')?.startsWith('https:') === true || isAtHttps(request, publicUrl);
  return sessionCookie(id, { isSecure, lifetime: SESSION_LIFETIME });
}

/** Whether the request came to the public address, and that has HTTPS. A false header only makes the request's own rules stricter. */
function isAtHttps({ headers }: Request, publicUrl: string): boolean {
  const { protocol, host } = new URL(publicUrl);
  return protocol === 'https:' && [headers.get('Host'), headers.get('X-Forwarded-Host')].includes(host);
}

/** The `Set-Cookie` header that starts a session, over HTTPS or HTTP. */
export function sessionCookie(
  id: string,
  { isSecure, lifetime }: { readonly isSecure: boolean; readonly lifetime: SessionLifetime },
): string {
  return setCookie(SESSION_COOKIE, id, { isSecure, maxAgeSeconds: lifetime.absoluteMs / 1000 });
}

/** The `Set-Cookie` headers that end a session. */
export function endCookies(): readonly string[] {
  return removeCookie(SESSION_COOKIE);
}
