import { readFile } from 'node:fs/promises';
import { DEFAULT_ENVIRONMENTS } from '@halyard/protocol';
import { type Actor, SYSTEM } from '../domain/audit.ts';
import { invalid, ServiceError } from '../domain/errors.ts';
import type { StateText } from '../domain/project.ts';
import type { ManagementContext } from '../management/context.ts';
import { write } from '../management/write.ts';
import { createFlag } from '../nouns/flags/flags.ts';
import { createProjectKey } from '../nouns/keys/project-keys.ts';
import type { Operator } from '../nouns/people/operator.ts';
import { hasOperators, insertOperator } from '../nouns/people/operator-table.ts';
import { isSetupNeeded } from '../nouns/people/operators.ts';
import { checkEmail, nameIn, type PeopleContext } from '../nouns/people/people.ts';
import { checkPassword } from '../nouns/people/sign-in.ts';
import { createProject, listProjects } from '../nouns/projects/projects.ts';

/** The records that the first start created in an empty database. */
export interface FirstStart {
  readonly project: string;
  readonly environment: string;
  /** Shown only once. Absent when it was not requested. */
  readonly key?: string;
}

interface DemoFlag {
  readonly key: string;
  readonly description: string;
  readonly tags: readonly string[];
  /** By position of {@link DEFAULT_ENVIRONMENTS}. */
  readonly states: readonly [development: StateText, staging: StateText, production: StateText];
}

const PROJECT = 'demo';
const ENVIRONMENT = DEFAULT_ENVIRONMENTS[0];
const FIRST_START: Actor = { ...SYSTEM, note: 'first start' };

const FLAGS: readonly DemoFlag[] = [
  {
    key: 'new-checkout',
    description: 'The rebuilt checkout. A plain switch: flip it and watch the stream.',
    tags: ['release'],
    states: ['{"enabled":false}', '{"enabled":false}', '{"enabled":false}'],
  },
  {
    key: 'dark-mode',
    description: 'A gradual rollout: on for a share of targeting keys.',
    tags: ['release', 'rollout'],
    states: ['{"enabled":true}', '{"enabled":true,"rolloutPct":50}', '{"enabled":true,"rolloutPct":5}'],
  },
  {
    key: 'banner-text',
    description: 'A text that can be changed without a deployment.',
    tags: ['content'],
    states: [
      '{"enabled":true,"value":"Fair winds from development"}',
      '{"enabled":true,"value":"Welcome aboard"}',
      '{"enabled":true,"value":"Welcome aboard"}',
    ],
  },
  {
    key: 'upload-limit-mb',
    description: 'A number that operations can turn down in an incident.',
    tags: ['operations'],
    states: ['{"enabled":true,"value":100}', '{"enabled":true,"value":25}', '{"enabled":true,"value":25}'],
  },
];

/**
 * Creates the demo project in an empty database, with a few example flags, and one key if `withKey`. Returns `undefined`
 * when there are projects already, or when another node created it first.
 */
export async function createDemo(
  context: ManagementContext,
  { withKey }: { readonly withKey: boolean },
): Promise<FirstStart | undefined> {
  if ((await listProjects(context, SYSTEM)).length > 0) return undefined;
  try {
    await createProject(context, FIRST_START, { name: PROJECT });
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'already_exists') return undefined;
    throw error;
  }
  for (const { states, ...flag } of FLAGS) {
    const byName = new Map(DEFAULT_ENVIRONMENTS.map((name, index) => [name, states[index] ?? states[0]]));
    await createFlag(context, FIRST_START, { project: PROJECT, ...flag, states: byName });
  }
  const result = { project: PROJECT, environment: ENVIRONMENT };
  if (!withKey) return result;
  const { key } = await createProjectKey(context, FIRST_START, {
    project: PROJECT,
    name: 'first key',
    environments: DEFAULT_ENVIRONMENTS,
  });
  return { ...result, key };
}

/**
 * Imports a file, YAML or JSON, into an empty database. Returns `undefined`, and does not read it, when there are projects
 * already. Another node that does the same at the same moment finds nothing left to do. The error of a file that cannot be
 * read or imported names it.
 */
export async function importDocument(
  context: ManagementContext,
  file: string,
): Promise<{ readonly project: string; readonly flags: number } | undefined> {
  if ((await listProjects(context, SYSTEM)).length > 0) return undefined;

  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new Error(`Cannot read ${file} to import it. Check the path and its permissions.`, { cause });
  });

  const [{ readDocument }, { hasSections }, { importDeclaration }] = await Promise.all([
    import('../nouns/documents/declaration.ts'),
    import('../nouns/documents/document.ts'),
    import('../nouns/documents/import.ts'),
  ]);
  try {
    const declaration = await readDocument(text, text.trimStart().startsWith('{') ? 'json' : 'yaml');
    const { project, flags } = declaration;
    if (hasSections(declaration)) {
      throw invalid(
        'It has keys, webhooks or members, whose secrets no one would see: import it with "halyard import" instead.',
      );
    }
    await importDeclaration(context, FIRST_START, {
      declaration,
      policy: 'create-only',
      prune: false,
      remove: [],
    });
    return { project, flags: flags.size };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    if (error.code === 'already_exists') return undefined;
    throw new Error(`Cannot import ${file}: ${error.message}`, { cause: error });
  }
}

/** The first administrator from the settings; both members or neither. */
export interface FirstAdmin {
  readonly adminEmail?: string;
  readonly adminPassword?: string;
}

/**
 * Creates the administrator from the settings while there is no operator. Returns whether an operator is still missing.
 */
export async function prepareFirstOperator(
  context: PeopleContext,
  { adminEmail, adminPassword }: FirstAdmin,
): Promise<boolean> {
  if (!(await isSetupNeeded(context))) return false;
  if (adminEmail === undefined || adminPassword === undefined) return true;
  await createAdmin(context, adminEmail, adminPassword);
  return false;
}

async function createAdmin(context: PeopleContext, emailText: string, password: string): Promise<void> {
  const email = checkEmail(emailText);
  checkPassword(password, email);
  const operator: Operator = {
    id: context.newId(),
    email,
    name: nameIn(email),
    role: 'admin',
    canChangeProtected: true,
    createdAt: context.now(),
  };
  const hash = await context.passwords.hash(password);
  await write(context, { ...SYSTEM, note: 'from the settings' }, async (tx) => {
    await tx.lockPeople();
    // Another node may have been first.
    if (!(await hasOperators(tx))) await insertOperator(tx, operator, hash);
  });
}
