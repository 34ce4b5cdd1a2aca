import type { Actor } from '../../domain/audit.ts';
import { type Operator, UNLIMITED } from '../../domain/people.ts';
import { isSetupNeeded } from '../people/operators.ts';
import { checkPassword } from '../people/passwords.ts';
import { checkEmail, type PeopleContext } from '../people/people.ts';
import { write } from '../write.ts';

/** What the settings say of the first administrator; both or neither. */
export interface FirstAdmin {
  readonly adminEmail?: string;
  readonly adminPassword?: string;
}

const SYSTEM: Actor = { name: 'system', note: 'from the settings', permissions: UNLIMITED };

/**
 * While there is no operator, makes the administrator of the settings. Gives whether an operator is still missing.
 */
export async function prepareFirstOperator(
  context: PeopleContext,
  { adminEmail, adminPassword }: FirstAdmin,
): Promise<boolean> {
  if (!(await isSetupNeeded(context))) return false;
  if (adminEmail === undefined || adminPassword === undefined) return true;
  await makeAdmin(context, adminEmail, adminPassword);
  return false;
}

async function makeAdmin(context: PeopleContext, emailText: string, password: string): Promise<void> {
  const email = checkEmail(emailText);
  checkPassword(password, email);
  const operator: Operator = {
    ...{ id: context.newId(), email, name: email.replace(/@.*$/, '').slice(0, 100) },
    ...{ role: 'admin', canChangeProtected: true, createdAt: context.now() },
  };
  const hash = await context.passwords.hash(password);
  await write(context, SYSTEM, async ({ people }) => {
    await people.lock();
    // Another node may have been first.
    if (!(await people.hasOperators())) await people.insertOperator(operator, hash);
  });
}
