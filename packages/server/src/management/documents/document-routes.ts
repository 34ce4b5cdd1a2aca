import { z } from '@hono/zod-openapi';
import { rawJson, type Writable } from '../../domain/raw-json.ts';
import { ok } from '../api/answers.ts';
import { parseBody } from '../api/body.ts';
import { type ManagementApp, mount } from '../api/operation.ts';
import { FlagKeySchema, FlagStateSchema, flagDetailMembers, NameSchema, seqMember } from '../api/schemas.ts';
import type { ManagementContext } from '../context.ts';
import { DECLARATION_VERSION, exportProject, readDeclaration, writeDeclaration } from './declaration.ts';
import { IMPORT_POLICIES, type ImportStep, importDeclaration } from './import.ts';

const tag = 'Import and export';

/** Largest document, in bytes: ten thousand flags fit. */
const MAX_BYTES = 32 * 1024 * 1024;

const MEDIA_TYPES = ['application/json', 'application/yaml'] as const;

/** The document of a project, as export writes it and import reads it. */
export const DeclarationSchema = z
  .strictObject({
    halyard: z.literal(DECLARATION_VERSION),
    project: NameSchema,
    environments: z.array(NameSchema),
    flags: z.record(
      FlagKeySchema,
      z.strictObject({
        ...flagDetailMembers,
        environments: z.record(NameSchema, FlagStateSchema).optional(),
      }),
    ),
  })
  .openapi('Declaration');

/** The answer of an import. */
export const ImportResultSchema = z
  .object({
    project: NameSchema,
    policy: z.enum(IMPORT_POLICIES),
    dryRun: z.boolean(),
    projectCreated: z.boolean(),
    environmentsCreated: z.array(NameSchema),
    flagsCreated: z.array(FlagKeySchema),
    flagsUpdated: z.array(FlagKeySchema),
    flagsDeleted: z.array(FlagKeySchema),
    changes: z.array(
      z.object({
        environment: NameSchema,
        key: FlagKeySchema,
        action: z.enum(['create', 'update', 'delete']),
        before: FlagStateSchema.optional(),
        after: FlagStateSchema.optional(),
      }),
    ),
    kept: z.number().int().openapi({ description: 'Differing states that `create-only` did not change.' }),
    ...seqMember,
  })
  .openapi('ImportResult');

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
    async ({ params, query: { format } }) => {
      const text = writeDeclaration(await exportProject(context, params.project), format);
      return new Response(text, { headers: { 'Content-Type': `application/${format}` } });
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
      role: 'admin',
      scope: 'visible',
      summary: 'Import a document into a project; one change per environment',
      query: z.strictObject({
        policy: z.enum(IMPORT_POLICIES).default('create-only'),
        dryRun: z.enum(['true', 'false']).default('false'),
      }),
      body: { schema: DeclarationSchema, reads: 'text', mediaTypes: MEDIA_TYPES, maxBytes: MAX_BYTES },
      answer: { status: 200, description: 'What changed, or would change.', schema: ImportResultSchema },
      errors: ['flag_archived', 'confirmation_required'],
    },
    async ({ query: { policy, dryRun }, text, actor, request }) => {
      const declaration = await readDeclaration(
        await toJson(text, request.headers.get('Content-Type') ?? ''),
      );
      const mode = dryRun === 'true' ? 'preview' : 'apply';
      const result = await importDeclaration(context, actor, { declaration, policy, mode });
      const head = { project: declaration.project, policy, dryRun: dryRun === 'true' };
      return ok({ ...head, ...result, changes: result.changes.map(stepRecord) });
    },
  );
}

async function toJson(text: string, contentType: string): Promise<string> {
  if (/^(?:application|text)\/(?:x-)?yaml\b/i.test(contentType.trim())) {
    const { yamlToJson } = await import('./yaml-text.ts');
    return yamlToJson(text);
  }
  parseBody(text, 'document');
  return text;
}

function stepRecord({ before, after, ...step }: ImportStep): Writable {
  return { ...step, before: rawJson(before), after: rawJson(after) };
}
