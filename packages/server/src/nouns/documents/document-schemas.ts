import { ENVIRONMENT_COLORS } from '@halyard/protocol';
import { FLAGD_ROLLOUTS } from '../../domain/flagd-document.ts';
import {
  FlagKeySchema,
  FlagStateSchema,
  flagDetailMembers,
  NameSchema,
  seqMember,
} from '../../management/api/schemas.ts';
import { z } from '../../management/api/zod.ts';
import { DECLARATION_VERSION, IMPORT_POLICIES, SECTIONS_VERSION } from './document.ts';
import { sectionMembers, sectionPlanMembers } from './section-schemas.ts';

const EnvironmentAppearanceSchema = z.strictObject({
  protected: z.boolean().optional(),
  color: z.enum(ENVIRONMENT_COLORS).optional(),
  approvals: z.number().int().min(0).max(2).optional(),
  emergencyOff: z.boolean().optional(),
  reasonRequired: z.boolean().optional(),
});

/** The document of a project, as export writes it and import reads it. */
export const DeclarationSchema = z
  .strictObject({
    halyard: z.union([z.literal(DECLARATION_VERSION), z.literal(SECTIONS_VERSION)]).openapi({
      description:
        'The version of the format: 2 for a document with guards of environments, or any of `keys`, `webhooks` and `members`.',
    }),
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
    ...sectionMembers,
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
  ...sectionPlanMembers,
  kept: z.number().int().openapi({ description: 'What differs and `create-only` leaves as it is.' }),
  onlyInProject: z
    .object({
      flags: z.array(FlagKeySchema),
      states: z.array(z.object({ environment: NameSchema, key: FlagKeySchema })),
      keys: z.array(z.string()),
      webhooks: z.array(z.string()),
      members: z.array(z.string()),
    })
    .openapi({
      description:
        'What the document lacks, and `enforce` leaves as it is without `prune` or `remove`. Members by their e-mail.',
    }),
} as const;

const PlanName = z.string().openapi({
  description:
    'Names what would change. Send it as `plan` with the import, and it does exactly this or nothing.',
});

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
    plan: PlanName.optional(),
    notAllowed: notAllowedMember.notAllowed.optional(),
    ...seqMember,
  })
  .openapi('ImportResult');

/** The answer of a comparison. */
export const DifferenceSchema = z
  .object({ ...planMembers, same: z.boolean(), plan: PlanName, ...notAllowedMember })
  .openapi('ProjectDifference');
