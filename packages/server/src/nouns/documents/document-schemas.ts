import { ENVIRONMENT_COLORS } from '@halyard/protocol';
import { z } from '@hono/zod-openapi';
import { FLAGD_ROLLOUTS } from '../../domain/flagd-document.ts';
import { detailsOf, detailsRecord, type Environment } from '../../domain/project.ts';
import { rawJson, type Writable } from '../../domain/raw-json.ts';
import {
  FlagKeySchema,
  FlagStateSchema,
  flagDetailMembers,
  NameSchema,
  seqMember,
} from '../../management/api/schemas.ts';
import {
  DECLARATION_VERSION,
  IMPORT_POLICIES,
  type ImportPlan,
  type ImportRules,
  type ImportStep,
} from './document.ts';

const EnvironmentAppearanceSchema = z.strictObject({
  protected: z.boolean().optional(),
  color: z.enum(ENVIRONMENT_COLORS).optional(),
});

/** The document of a project, as export writes it and import reads it. */
export const DeclarationSchema = z
  .strictObject({
    halyard: z.literal(DECLARATION_VERSION),
    project: NameSchema,
    environments: z
      .array(z.union([NameSchema, EnvironmentAppearanceSchema.extend({ name: NameSchema })]))
      .openapi({ description: 'In display order. A name alone keeps the appearance and the place.' }),
    flags: z.record(
      FlagKeySchema,
      z.strictObject({
        ...flagDetailMembers,
        archived: z.boolean().optional(),
        environments: z.record(NameSchema, FlagStateSchema).optional(),
      }),
    ),
  })
  .openapi('Declaration');

const DetailsSchema = z.object(flagDetailMembers);

/** What an import changes, or would change. */
const planMembers = {
  project: NameSchema,
  policy: z.enum(IMPORT_POLICIES),
  prune: z.boolean(),
  projectCreated: z.boolean(),
  environmentsCreated: z.array(NameSchema),
  environmentsUpdated: z.array(
    z.object({ name: NameSchema, before: EnvironmentAppearanceSchema, after: EnvironmentAppearanceSchema }),
  ),
  environmentOrder: z
    .array(NameSchema)
    .optional()
    .openapi({ description: 'The new order of all environments, if it changes.' }),
  flagsCreated: z.array(FlagKeySchema),
  flagsUpdated: z.array(z.object({ key: FlagKeySchema, before: DetailsSchema, after: DetailsSchema })),
  flagsArchived: z.array(FlagKeySchema),
  flagsRestored: z.array(FlagKeySchema),
  changes: z.array(
    z.object({
      environment: NameSchema,
      key: FlagKeySchema,
      action: z.enum(['create', 'update', 'delete']),
      before: FlagStateSchema.optional(),
      after: FlagStateSchema.optional(),
    }),
  ),
  kept: z.number().int().openapi({ description: 'What differs and `create-only` leaves as it is.' }),
  onlyInProject: z
    .object({
      flags: z.array(FlagKeySchema),
      states: z.array(z.object({ environment: NameSchema, key: FlagKeySchema })),
    })
    .openapi({ description: 'What the document lacks, and `enforce` leaves as it is without `prune`.' }),
} as const;

const notAllowedMember = {
  notAllowed: z.array(z.object({ what: z.string(), code: z.string(), why: z.string() })).openapi({
    description: 'Which of these changes the caller may not make: the import would be refused as a whole.',
  }),
} as const;

/** An environment in the format of flagd. */
export const FlagdDocumentSchema = z
  .object({
    flags: z.record(
      FlagKeySchema,
      z.object({
        state: z.enum(['ENABLED', 'DISABLED']),
        variants: z.record(z.string(), z.unknown()),
        defaultVariant: z.enum(['on', 'off']),
        targeting: z.unknown().optional(),
      }),
    ),
    metadata: z.object({ environment: NameSchema, revision: z.number() }),
  })
  .openapi('FlagdDocument');

/** Whether a document for flagd has partial rollouts. */
export const flagdQuery = {
  rollouts: z.enum(FLAGD_ROLLOUTS).default('include').openapi({
    description:
      '`omit` leaves out flags that are rolled out to a part of the users: only some versions of flagd choose the same part.',
  }),
} as const;

/** The answer of an import. */
export const ImportResultSchema = z
  .object({
    ...planMembers,
    dryRun: z.boolean(),
    notAllowed: notAllowedMember.notAllowed.optional(),
    ...seqMember,
  })
  .openapi('ImportResult');

/** The answer of a comparison. */
export const DifferenceSchema = z
  .object({ ...planMembers, same: z.boolean(), ...notAllowedMember })
  .openapi('ProjectDifference');

/** A plan as the API returns it. */
export function planRecord({ declaration, policy, prune }: ImportRules, plan: ImportPlan) {
  const { kept, onlyInProject } = plan;
  return {
    project: declaration.project,
    policy,
    prune,
    projectCreated: plan.project === undefined,
    environmentsCreated: plan.environmentsCreated.map(({ name }) => name),
    environmentsUpdated: plan.environmentsUpdated.map(({ before, after }) => ({
      name: before.name,
      ...changed(appearanceOf(before), appearanceOf(after)),
    })),
    environmentOrder: plan.order,
    flagsCreated: plan.flagsCreated.map(({ key }) => key),
    flagsUpdated: plan.flagsUpdated.map(({ before, after }) => ({
      key: before.key,
      ...changed(detailsRecord(detailsOf(before)), detailsRecord(detailsOf(after))),
    })),
    flagsArchived: plan.flagsArchived.map(({ flag }) => flag.key),
    flagsRestored: plan.flagsRestored.map(({ key }) => key),
    changes: plan.changes.map(stepRecord),
    kept,
    onlyInProject,
  };
}

function appearanceOf({ protected: isProtected, color }: Environment) {
  return { protected: isProtected, color };
}

/** The members that differ, before and after. */
function changed<T extends object>(before: T, after: T): { before: Partial<T>; after: Partial<T> } {
  const result: { before: Partial<T>; after: Partial<T> } = { before: {}, after: {} };
  // `keyof T`: own members of a `T`.
  for (const name of Object.keys(before) as (keyof T)[]) {
    if (JSON.stringify(before[name]) === JSON.stringify(after[name])) continue;
    result.before[name] = before[name];
    result.after[name] = after[name];
  }
  return result;
}

function stepRecord({ before, after, ...step }: ImportStep): Writable {
  return { ...step, before: rawJson(before), after: rawJson(after) };
}
