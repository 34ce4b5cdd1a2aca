import { isoTime, ok } from '../../management/api/answers.ts';
import type { ManagementApp } from '../../management/api/management-app.ts';
import { tagged } from '../../management/api/operation.ts';
import { FlagKeySchema, TimeSchema } from '../../management/api/schemas.ts';
import { z } from '../../management/api/zod.ts';
import type { ManagementContext } from '../../management/context.ts';
import type { CodeReport } from './code-reference-table.ts';
import {
  COMMIT_PATTERN,
  deleteCodeReferences,
  getCodeReferences,
  LINK_PATTERN,
  listCodeReferences,
  MAX_CODE,
  REPOSITORY_PATTERN,
  reportCodeReferences,
} from './code-references.ts';

const Repository = z.string().openapi({ pattern: REPOSITORY_PATTERN.source, example: 'acme/shop' });

const reportMembers = {
  repository: Repository,
  commit: z.string().openapi({ pattern: COMMIT_PATTERN.source, description: 'What was searched.' }),
  link: z
    .string()
    .openapi({
      pattern: LINK_PATTERN.source,
      maxLength: MAX_CODE.link,
      description: 'The address of a place: `{commit}`, `{path}` and `{line}` stand for its parts.',
      example: 'https://github.com/acme/shop/blob/{commit}/{path}#L{line}',
    })
    .optional(),
} as const;

const countMembers = {
  places: z.number().int().min(0).openapi({ description: 'All places; 0: the search found none.' }),
  files: z.number().int().min(0).openapi({ description: 'The files that have them.' }),
} as const;

const firstPlaces = z
  .array(
    z.strictObject({
      path: z.string().openapi({ maxLength: MAX_CODE.path, description: 'From the root of the repository.' }),
      line: z.number().int().min(1),
    }),
  )
  .openapi({ maxItems: MAX_CODE.places, description: 'Some of the places.' });

const Reported = z.object({ ...reportMembers, reportedAt: TimeSchema, reportedBy: z.string() });

/** What the repositories of a project have reported. */
export const CodeReferencesSchema = z
  .object({
    repositories: z.array(
      Reported.extend({
        flags: z.record(FlagKeySchema, z.object(countMembers)).openapi({
          description: 'Each flag that was looked for; of any other nothing is known.',
        }),
      }),
    ),
  })
  .openapi('CodeReferences');

/** Where the code of each repository has one flag. */
export const FlagInCodeSchema = z
  .object({ repositories: z.array(Reported.extend({ ...countMembers, first: firstPlaces })) })
  .openapi('FlagInCode');

const ReportSchema = z
  .strictObject({
    ...reportMembers,
    flags: z
      .array(z.strictObject({ key: FlagKeySchema, ...countMembers, first: firstPlaces.default([]) }))
      .openapi({
        maxItems: MAX_CODE.flags,
        description: 'Each flag that was looked for, also if the search found no place.',
      }),
  })
  .openapi('CodeReport');

/** Mounts the routes of what pipelines report about flags in code. */
export function mountCodeReferences(app: ManagementApp, context: ManagementContext): void {
  const { mount } = tagged(app, 'Code references');
  const path = '/api/projects/{project}/code-references';

  mount({
    method: 'get',
    path,
    id: 'listCodeReferences',
    isHeavy: true,
    role: 'viewer',
    summary: 'Read how often the code of each repository has the flags of a project',
    answer: { description: 'The newest report of each.', schema: CodeReferencesSchema },
    handle: async ({ params, actor }) => {
      const reports = await listCodeReferences(context, actor, params.project);
      return ok({ repositories: reports.map((each) => ({ ...reported(each), flags: each.flags })) });
    },
  });

  mount({
    method: 'put',
    path,
    id: 'reportCodeReferences',
    role: 'editor',
    setsStates: true,
    summary: 'Report where the code of a repository has flags, in the place of its report before',
    body: { schema: ReportSchema },
    answer: { status: 204, description: 'The report is stored.' },
    handle: async ({ params, body, actor }) => {
      await reportCodeReferences(context, actor, { project: params.project, sent: body });
      return new Response(null, { status: 204 });
    },
  });

  mount({
    method: 'delete',
    path,
    id: 'deleteCodeReferences',
    role: 'editor',
    setsStates: true,
    summary: 'Remove what a repository reported',
    query: z.strictObject({ repository: Repository }),
    answer: { status: 204, description: 'The report is gone.' },
    errors: ['not_found'],
    handle: async ({ params, query, actor }) => {
      const { repository } = query;
      await deleteCodeReferences(context, actor, { project: params.project, repository });
      return new Response(null, { status: 204 });
    },
  });

  mount({
    method: 'get',
    path: '/api/projects/{project}/flags/{key}/code-references',
    id: 'getFlagCodeReferences',
    role: 'viewer',
    summary: 'Read where the code of each repository has a flag',
    answer: { description: 'The repositories that have looked for it.', schema: FlagInCodeSchema },
    errors: ['flag_not_found'],
    handle: async ({ params, actor }) => {
      const found = await getCodeReferences(context, actor, params);
      const repositories = found.map(({ places, files, first, ...report }) => ({
        ...reported(report),
        places,
        files,
        first,
      }));
      return ok({ repositories });
    },
  });
}

function reported({ repository, commit, link, reportedAt, reportedBy }: CodeReport) {
  return { repository, commit, link, reportedAt: isoTime(reportedAt), reportedBy };
}
