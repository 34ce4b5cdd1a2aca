import { DEFAULT_ENVIRONMENTS } from '@halyard/protocol';
import type { Actor } from '../../domain/audit.ts';
import { ServiceError } from '../../domain/errors.ts';
import { UNLIMITED } from '../../domain/people.ts';
import type { StateText } from '../../domain/project.ts';
import type { ManagementContext } from '../context.ts';
import { createFlag } from '../flags/flags.ts';
import { createProjectKey } from '../keys/project-keys.ts';
import { createProject, listProjects } from '../projects/projects.ts';

/** What the first start of an empty database made. */
export interface FirstStart {
  readonly project: string;
  readonly environment: string;
  /** To be shown once. Absent where it was not asked for. */
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
const SYSTEM: Actor = { name: 'system', note: 'first start', permissions: UNLIMITED };

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
 * Makes the demo project on an empty database, with a few telling flags, and `withKey` one key. Gives `undefined` when
 * there are projects already, or when another node that started at the same moment was first.
 */
export async function createDemo(
  context: ManagementContext,
  { withKey }: { readonly withKey: boolean },
): Promise<FirstStart | undefined> {
  if ((await listProjects(context)).length > 0) return undefined;
  try {
    await createProject(context, SYSTEM, { name: PROJECT });
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'already_exists') return undefined;
    throw error;
  }
  for (const { states, ...flag } of FLAGS) {
    const byName = new Map(DEFAULT_ENVIRONMENTS.map((name, index) => [name, states[index] ?? states[0]]));
    await createFlag(context, SYSTEM, { project: PROJECT, ...flag, states: byName });
  }
  const made = { project: PROJECT, environment: ENVIRONMENT };
  if (!withKey) return made;
  const { key } = await createProjectKey(context, SYSTEM, {
    project: PROJECT,
    name: 'first key',
    environments: DEFAULT_ENVIRONMENTS,
  });
  return { ...made, key };
}
