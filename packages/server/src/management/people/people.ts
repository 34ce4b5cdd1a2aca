import type { Actor } from '../../domain/audit.ts';
import type { Operator } from '../../domain/people.ts';
import { invalid } from '../../domain/strict-members.ts';
import type { SignInContext } from './sign-in.ts';

/** What the commands about people need besides the rest. */
export interface PeopleContext extends SignInContext {
  /** Where people reach this server with a browser, without a slash at the end. */
  readonly publicUrl: string;
  /** Where programs read flags, when that is another address. */
  readonly evaluationUrl: string | undefined;
}

/** Where a request to sign in comes from. */
export interface Caller {
  /** Absent where the listener does not know it. */
  readonly ip?: string;
}

/** Longest e-mail that is taken. */
const MAX_EMAIL_LENGTH = 254;

/** The e-mail as it is kept: trimmed and in lower case. `invalid_argument` for what is none. */
export function checkEmail(text: string): string {
  const email = normalizeEmail(text);
  if (email.length <= MAX_EMAIL_LENGTH && /^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u.test(email)) return email;
  throw invalid('"email" must be an e-mail address, such as "ada@example.com".');
}

/** The form in which e-mails are compared. */
export function normalizeEmail(text: string): string {
  return text.trim().toLowerCase();
}

/** The actor that an operator is for something done in the moment of signing in. */
export function operatorActor(operator: Operator, { ip }: Caller): Actor {
  const { role, canChangeProtected } = operator;
  return {
    name: operatorName(operator),
    permissions: { role, canChangeProtected, confirmed: [] },
    ...(ip === undefined ? {} : { ip }),
  };
}

/** How the audit log calls an operator. */
export function operatorName({ email }: Pick<Operator, 'email'>): string {
  return `operator:${email}`;
}
