import { SESSION_LIFETIME, type SessionLifetime } from '../../domain/rights.ts';
import { SSO_LENGTHS, type SsoSettings, ssoLengths } from '../../domain/sso.ts';
import type { Operator } from '../people/operator.ts';
import type { IdentityProvider } from './identity-provider.ts';

/** Single sign-on as it is set up: its settings and the provider. */
export interface Sso {
  readonly settings: SsoSettings;
  readonly provider: IdentityProvider;
}

/** Why a person is not signed in. The sign-in page has a sentence for each. */
export const SSO_PROBLEMS = [
  // Of the provider, or of the browser's way to it and back.
  'unavailable',
  'denied',
  'invalid',
  'expired',
  // Of the person.
  'no_role',
  'no_email',
  'email_unverified',
  'email_domain',
  'email_taken',
  // Of this server.
  'failed',
] as const;

/** One of {@link SSO_PROBLEMS}. */
export type SsoProblem = (typeof SSO_PROBLEMS)[number];

/** The provider vouches for the person, but the person may not sign in. */
export class SignOnRefused extends Error {
  override readonly name = 'SignOnRefused';
  readonly problem: SsoProblem;
  /** More for the log, where there is more to say: nothing that the provider sent. */
  readonly reason: string | undefined;

  constructor(problem: SsoProblem, reason?: string) {
    super(problem);
    this.problem = problem;
    this.reason = reason;
  }
}

/** Where the browser begins a single sign-on, and where the provider sends it back to. */
export const SSO_PATHS = { start: '/api/sso/start', callback: '/api/sso/callback' } as const;

/** Whether the provider that is set up now decides who the operator is and what the operator may do. */
export function isManagedBySso({ identity }: Pick<Operator, 'identity'>, sso: Sso | undefined): boolean {
  return identity !== undefined && identity.issuer === sso?.settings.issuer;
}

/** The lengths of the settings by default. */
const DEFAULTS = ssoLengths({
  sessionMinutes: SSO_LENGTHS.sessionMinutes.default,
  idleMinutes: SSO_LENGTHS.idleMinutes.default,
  absenceDays: SSO_LENGTHS.absenceDays.default,
});

/**
 * How long the operator's sessions last. Those of a person whom a provider vouched for end as its settings say, also once the
 * provider is no longer set up.
 */
export function sessionLifetime(
  { identity }: Pick<Operator, 'identity'>,
  sso: Sso | undefined,
): SessionLifetime {
  return identity === undefined ? SESSION_LIFETIME : (sso?.settings.session ?? DEFAULTS.session);
}
