import { DOCUMENT_SECTIONS, defined, REMOVABLE_SECTIONS } from '@halyard/protocol';
import type { Actor } from '../../domain/audit.ts';
import { invalid } from '../../domain/errors.ts';
import { ok } from '../../management/api/answers.ts';
import type { ManagementApp } from '../../management/api/management-app.ts';
import { type Call, tagged } from '../../management/api/operation.ts';
import { z } from '../../management/api/zod.ts';
import type { ManagementContext } from '../../management/context.ts';
import { isAdministrator } from '../../management/rights.ts';
import { readDocument } from './declaration.ts';
import { writeDeclaration } from './declaration-text.ts';
import { type DeclarationFormat, IMPORT_POLICIES, type ImportPolicy, type ImportRules } from './document.ts';
import {
  DeclarationSchema,
  DifferenceSchema,
  FlagdDocumentSchema,
  flagdQuery,
  ImportResultSchema,
} from './document-schemas.ts';
import { exportForFlagd, exportProject } from './export.ts';
import { importDeclaration, previewImport } from './import.ts';
import { isEmptyPlan } from './plan.ts';
import { planRecord } from './plan-record.ts';
import { PLAN_NAME } from './previewed-plan.ts';

/** Largest document of an administrator of any project, in bytes: ten thousand flags fit. */
const MAX_BYTES = 32 * 1024 * 1024;

/** Largest document of other callers, in bytes. */
const MAX_BYTES_OF_OTHERS = 8 * 1024 * 1024;

const MEDIA_TYPES = ['application/json', 'application/yaml'] as const;

const pruneQuery = {
  prune: z.enum(['true', 'false']).default('false').openapi({
    description: '`true`, with `enforce`: remove states and archive flags that the document lacks.',
  }),
  remove: listOf(REMOVABLE_SECTIONS).openapi({
    description:
      'With `enforce`: of which sections to remove what the document lacks, separated by commas: revoke keys, delete webhooks, end roles.',
  }),
} as const;

type PruneQuery = z.infer<z.ZodObject<typeof pruneQuery>>;

/** Some of these words, separated by commas. */
function listOf(words: readonly string[]) {
  const word = `(${words.join('|')})`;
  return z
    .string()
    .regex(new RegExp(`^${word}(,${word})*$`), { error: `it must be some of ${words.join(',')}` })
    .optional();
}

/** The words that such a list has. */
function wordsIn<Word extends string>(list: string | undefined, words: readonly Word[]): readonly Word[] {
  return words.filter((word) => list?.split(',').includes(word));
}

/** Mounts the routes of import and export. */
export function mountImportExport(app: ManagementApp, context: ManagementContext): void {
  const { mount } = tagged(app, 'Import and export');
  mount({
    method: 'get',
    path: '/api/projects/{project}/export',
    id: 'exportProject',
    isHeavy: true,
    role: 'viewer',
    summary: 'Export the flags of a project as a document; equal projects have equal documents',
    query: z.strictObject({
      format: z.enum(['json', 'yaml']).default('json'),
      with: listOf(DOCUMENT_SECTIONS).openapi({
        description:
          'What the document has beside the flags, separated by commas. Never secrets. Keys, webhooks and members are for administrators of the project.',
      }),
    }),
    answer: { description: 'The document.', schema: DeclarationSchema, mediaTypes: MEDIA_TYPES },
    errors: ['forbidden'],
    handle: async ({ params, query: { format, with: sections }, actor }) => {
      const chosen = wordsIn(sections, DOCUMENT_SECTIONS);
      const text = writeDeclaration(await exportProject(context, actor, params.project, chosen), format);
      return new Response(text, { headers: { 'Content-Type': `application/${format}` } });
    },
  });

  mount({
    method: 'get',
    path: '/api/projects/{project}/environments/{environment}/flagd',
    id: 'exportForFlagd',
    isHeavy: true,
    role: 'viewer',
    summary: 'Export the flags of an environment in the format of flagd',
    query: z.strictObject(flagdQuery),
    answer: { description: 'The document.', schema: FlagdDocumentSchema },
    handle: async ({ params, query, actor }) => {
      const text = await exportForFlagd(context, actor, { ...params, ...query });
      return new Response(text, { headers: { 'Content-Type': 'application/json' } });
    },
  });

  const body = {
    schema: DeclarationSchema,
    reads: 'text',
    mediaTypes: MEDIA_TYPES,
    maxBytes: (actor: Actor) => (isAdministrator(actor) ? MAX_BYTES : MAX_BYTES_OF_OTHERS),
  } as const;
  mount({
    method: 'post',
    path: '/api/diff',
    id: 'diffProject',
    isHeavy: true,
    role: 'viewer',
    scope: 'visible',
    summary: 'Compare a document with its project: what an import that enforces it would change',
    query: z.strictObject(pruneQuery),
    body,
    answer: { description: 'The differences.', schema: DifferenceSchema },
    errors: ['forbidden'],
    handle: async (call) => {
      const rules = await rulesOf(call, 'enforce');
      const { plan, name, notAllowed } = await previewImport(context, call.actor, rules);
      return ok({ ...planRecord(rules, plan), same: isEmptyPlan(plan), plan: name, notAllowed });
    },
  });

  mount({
    method: 'post',
    path: '/api/import',
    id: 'importProject',
    needsApproval: true,
    isHeavy: true,
    role: 'viewer',
    scope: 'visible',
    summary:
      'Import a document into a project, all or nothing; each change requires the same role as making it by itself',
    query: z.strictObject({
      policy: z.enum(IMPORT_POLICIES).default('create-only'),
      dryRun: z.enum(['true', 'false']).default('false'),
      plan: z.string().regex(PLAN_NAME, { error: 'it must be the "plan" of a dry run' }).optional().openapi({
        description: 'The `plan` of a dry run or a diff: import only if that would do exactly the same.',
      }),
      ...pruneQuery,
    }),
    body,
    answer: { description: 'What changed, or would change.', schema: ImportResultSchema },
    errors: ['revision_conflict'],
    handle: async (call) => {
      const { query, actor } = call;
      const { policy } = query;
      if (query.prune === 'true' && policy !== 'enforce')
        throw invalid('"prune" goes with "policy=enforce" only: "create-only" removes nothing.');
      if (query.remove !== undefined && policy !== 'enforce')
        throw invalid('"remove" goes with "policy=enforce" only: "create-only" removes nothing.');
      if (query.plan !== undefined && query.dryRun === 'true')
        throw invalid('"plan" goes with an import: a dry run answers with its own plan.');

      const rules = { ...(await rulesOf(call, policy)), ...defined({ planned: query.plan }) };
      if (query.dryRun === 'true') {
        const { plan, name, notAllowed } = await previewImport(context, actor, rules);
        return ok({ ...planRecord(rules, plan), dryRun: true, plan: name, notAllowed });
      }

      const { plan, seq, ...created } = await importDeclaration(context, actor, rules);
      return ok({ ...planRecord(rules, plan, created), dryRun: false, seq });
    },
  });
}

function formatOf(request: Request): DeclarationFormat {
  const type = request.headers.get('Content-Type') ?? '';
  return /^(?:application|text)\/(?:x-)?yaml\b/i.test(type.trim()) ? 'yaml' : 'json';
}

/** What a call asks to compare or import, and how. */
async function rulesOf(
  {
    query,
    text,
    actor,
    request,
  }: Pick<Call<string, unknown, PruneQuery>, 'query' | 'text' | 'actor' | 'request'>,
  policy: ImportPolicy,
): Promise<ImportRules> {
  return {
    declaration: await readDocument(text, formatOf(request), isAdministrator(actor)),
    policy,
    prune: query.prune === 'true',
    remove: wordsIn(query.remove, REMOVABLE_SECTIONS),
  };
}
