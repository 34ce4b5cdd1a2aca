import { defined } from '@halyard/protocol';
import type { Actor } from '../../domain/audit.ts';
import { invalid } from '../../domain/errors.ts';
import { shorten } from '../../domain/text.ts';
import type { Caller } from '../../management/context.ts';
import { rightsOf } from '../../management/rights.ts';
import { MAX_TEXT } from '../../management/rules.ts';
import type { Sso } from '../sso/sso.ts';
import type { Operator } from './operator.ts';
import type { SignInContext } from './sign-in.ts';

/** The parts of the node that operations on people use. */
export interface PeopleContext extends SignInContext {
  /** The token from the settings, which has no record. */
  readonly adminToken?: string | undefined;
  /** The address of this server for browsers, without a trailing slash. */
  readonly publicUrl: string;
  /** Where programs read flags, when that is a different address. */
  readonly evaluationUrl: string | undefined;
  /** Absent without single sign-on. */
  readonly sso?: Sso | undefined;
}

/** Longest e-mail address, in characters. */
const MAX_EMAIL_LENGTH = 254;

/** The e-mail as it is kept: trimmed and in lower case. `invalid_argument` for anything else. */
export function checkEmail(text: string): string {
  const email = normalizeEmail(text);
  if (isEmail(email)) return email;
  throw invalid('"email" must be an e-mail address, such as "ada@example.com".');
}

/** Whether a text can be an e-mail address. Invisible characters would make it look like that of another person. */
export function isEmail(text: string): boolean {
  return (
    text.length <= MAX_EMAIL_LENGTH && /^[^\s@\p{Cc}\p{Cf}\p{Cs}]+@[^\s@\p{Cc}\p{Cf}\p{Cs}]+$/u.test(text)
  );
}

/** The name of a person who has none: what stands before the `@`. */
export function nameIn(email: string): string {
  return shorten(email.replace(/@.*$/, ''), MAX_TEXT.label);
}

/** The form in which e-mails are compared. */
export function normalizeEmail(text: string): string {
  return text.trim().toLowerCase();
}

/** The actor of an operation that also signs the operator in. */
export function operatorActor(operator: Operator, { ip }: Caller): Actor {
  return {
    name: operatorName(operator),
    permissions: { ...rightsOf(operator), confirmed: [] },
    ...defined({ ip }),
  };
}

/** The name of an operator in the audit log. */
export function operatorName({ email }: Pick<Operator, 'email'>): string {
  return `operator:${email}`;
}
