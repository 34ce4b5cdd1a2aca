import { z } from '@hono/zod-openapi';
import type { Actor } from '../../domain/audit.ts';
import { invalid } from '../../domain/errors.ts';
import { detailsOf, ENVIRONMENT_COLORS, type Environment } from '../../domain/project.ts';
import { rawJson, type Writable } from '../../domain/raw-json.ts';
import { ok } from '../api/answers.ts';
import { type ManagementApp, mount } from '../api/operation.ts';
import { FlagKeySchema, FlagStateSchema, flagDetailMembers, NameSchema, seqMember } from '../api/schemas.ts';
import type { ManagementContext } from '../context.ts';
import { isAdministrator } from '../rights.ts';
import { DECLARATION_VERSION, type DeclarationFormat, readDocument } from './declaration.ts';
import { exportProject, writeDeclaration } from './export.ts';
import { importDeclaration, type NotAllowed, previewImport } from './import.ts';
import {
  IMPORT_POLICIES,
  type ImportPlan,
  type ImportRules,
  type ImportStep,
  isEmptyPlan,
} from './import-plan.ts';

const tag = 'Import and export';

/** Largest document of an administrator of any project, in bytes: ten thousand flags fit. */
const MAX_BYTES = 32 * 1024 * 1024;

/** Largest document of other callers, in bytes. */
const MAX_BYTES_OF_OTHERS = 8 * 1024 * 1024;

const MEDIA_TYPES = ['application/json', 'application/yaml'] as const;

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
  notAllowed: z.array(z.object({ what: z.string(), why: z.string() })).openapi({
    description: 'Which of these changes the caller may not make: the import would be refused as a whole.',
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

const pruneQuery = {
  prune: z.enum(['true', 'false']).default('false').openapi({
    description: '`true`, with `enforce`: remove states and archive flags that the document lacks.',
  }),
} as const;

/** Mounts the routes of import and export. */
export function mountImportExport(app: ManagementApp, context: ManagementContext): void {
  mount(
    app,
    {
      method: 'get',
      path: '/api/projects/{project}/export',
      id: 'exportProject',
      isHeavy: true,
      tag,
      role: 'viewer',
      summary: 'Export the flags of a project as a document; equal projects have equal documents',
      query: z.strictObject({ format: z.enum(['json', 'yaml']).default('json') }),
      answer: {
        status: 200,
        description: 'The document.',
        schema: DeclarationSchema,
        mediaTypes: MEDIA_TYPES,
      },
      errors: ['project_not_found'],
    },
    async ({ params, query: { format }, actor }) => {
      const text = writeDeclaration(await exportProject(context, actor, params.project), format);
      return new Response(text, { headers: { 'Content-Type': `application/${format}` } });
    },
  );
  const body = {
    schema: DeclarationSchema,
    reads: 'text',
    mediaTypes: MEDIA_TYPES,
    maxBytes: (actor: Actor) => (isAdministrator(actor) ? MAX_BYTES : MAX_BYTES_OF_OTHERS),
  } as const;
  mount(
    app,
    {
      method: 'post',
      path: '/api/diff',
      id: 'diffProject',
      isHeavy: true,
      tag,
      role: 'viewer',
      scope: 'visible',
      summary: 'Compare a document with its project: what an import that enforces it would change',
      query: z.strictObject(pruneQuery),
      body,
      answer: { status: 200, description: 'The differences.', schema: DifferenceSchema },
    },
    async ({ query, text, actor, request }) => {
      const declaration = await readDocument(text, formatOf(request), isAdministrator(actor));
      const rules = { declaration, policy: 'enforce', prune: query.prune === 'true' } as const;
      const { plan, notAllowed } = await previewImport(context, actor, rules);
      return ok({ ...planRecord(rules, plan), same: isEmptyPlan(plan), notAllowed: records(notAllowed) });
    },
  );
  mount(
    app,
    {
      method: 'post',
      path: '/api/import',
      id: 'importProject',
      isHeavy: true,
      tag,
      role: 'viewer',
      scope: 'visible',
      summary:
        'Import a document into a project, all or nothing; each change requires the same role as making it by itself',
      query: z.strictObject({
        policy: z.enum(IMPORT_POLICIES).default('create-only'),
        dryRun: z.enum(['true', 'false']).default('false'),
        ...pruneQuery,
      }),
      body,
      answer: { status: 200, description: 'What changed, or would change.', schema: ImportResultSchema },
      errors: ['confirmation_required'],
    },
    async ({ query, text, actor, request }) => {
      const { policy } = query;
      if (query.prune === 'true' && policy !== 'enforce')
        throw invalid('"prune" goes with "policy=enforce" only: "create-only" removes nothing.');
      const declaration = await readDocument(text, formatOf(request), isAdministrator(actor));
      const rules = { declaration, policy, prune: query.prune === 'true' };
      if (query.dryRun === 'true') {
        const { plan, notAllowed } = await previewImport(context, actor, rules);
        return ok({ ...planRecord(rules, plan), dryRun: true, notAllowed: records(notAllowed) });
      }
      const { plan, seq } = await importDeclaration(context, actor, rules);
      return ok({ ...planRecord(rules, plan), dryRun: false, seq });
    },
  );
}

function formatOf(request: Request): DeclarationFormat {
  const type = request.headers.get('Content-Type') ?? '';
  return /^(?:application|text)\/(?:x-)?yaml\b/i.test(type.trim()) ? 'yaml' : 'json';
}

function planRecord({ declaration, policy, prune }: ImportRules, plan: ImportPlan) {
  const { kept, onlyInProject } = plan;
  return {
    ...{ project: declaration.project, policy, prune, projectCreated: plan.project === undefined },
    environmentsCreated: plan.environmentsCreated.map(({ name }) => name),
    environmentsUpdated: plan.environmentsUpdated.map(({ before, after }) => ({
      name: before.name,
      ...changed(appearanceOf(before), appearanceOf(after)),
    })),
    environmentOrder: plan.order,
    flagsCreated: plan.flagsCreated.map(({ key }) => key),
    flagsUpdated: plan.flagsUpdated.map(({ before, after }) => ({
      key: before.key,
      ...changed(detailsOf(before), detailsOf(after)),
    })),
    flagsArchived: plan.flagsArchived.map(({ flag }) => flag.key),
    flagsRestored: plan.flagsRestored.map(({ key }) => key),
    changes: plan.changes.map(stepRecord),
    ...{ kept, onlyInProject },
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

function records(notAllowed: readonly NotAllowed[]) {
  return notAllowed.map(({ what, why }) => ({ what, why }));
}

function stepRecord({ before, after, ...step }: ImportStep): Writable {
  return { ...step, before: rawJson(before), after: rawJson(after) };
}
