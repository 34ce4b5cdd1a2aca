import { done, isoTime, isoTimeOr, ok } from '../../management/api/answers.ts';
import type { ManagementApp } from '../../management/api/management-app.ts';
import { tagged } from '../../management/api/operation.ts';
import { listAnswer, nextMember, pageIn, pageOf, pageQuery } from '../../management/api/pages.ts';
import { DoneSchema } from '../../management/api/schemas.ts';
import { z } from '../../management/api/zod.ts';
import type { ManagementContext } from '../../management/context.ts';
import { PublicationSchema } from './publication-schemas.ts';
import {
  listPublications,
  type NamedPublication,
  publishEnvironment,
  withdrawEnvironment,
} from './publications.ts';

const path = '/api/projects/{project}/environments/{environment}/publication';

/** Mounts the routes of published environments. */
export function mountPublications(app: ManagementApp, context: ManagementContext): void {
  const { mount } = tagged(app, 'Publications');
  mount({
    method: 'get',
    path: '/api/projects/{project}/publications',
    id: 'listPublications',
    role: 'viewer',
    summary: 'List the published environments of a project',
    query: z.strictObject(pageQuery),
    answer: {
      description: 'The published environments, by name.',
      schema: z.object({ publications: z.array(PublicationSchema), ...nextMember }),
    },
    handle: async ({ params, query, actor }) => {
      const page = pageOf(query, ['name'] as const);
      const place = ({ environment }: NamedPublication) => [environment] as const;
      const publications = pageIn(await listPublications(context, actor, params.project), page, place);
      return ok(listAnswer('publications', publications, { page, record: publicationRecord, place }));
    },
  });

  mount({
    method: 'put',
    path,
    id: 'publishEnvironment',
    role: 'admin',
    summary: 'Publish an environment: its flags can then be read without a key',
    body: {
      schema: z.strictObject({
        withoutKey: z.literal(true).openapi({
          description: 'Confirms that anyone who knows the address may read the flags and their values.',
        }),
      }),
    },
    answer: {
      schema: DoneSchema,
      description:
        'The server will publish it: a node with HALYARD_PUBLISH_URL writes the files. `listPublications` has `publishedAt` once they are there.',
    },
    errors: ['confirmation_required'],
    handle: async ({ params, actor }) => done(await publishEnvironment(context, actor, params)),
  });

  mount({
    method: 'delete',
    path,
    id: 'withdrawEnvironment',
    role: 'admin',
    summary: 'Stop publishing an environment, and remove its files',
    answer: {
      schema: DoneSchema,
      description: 'A node with HALYARD_PUBLISH_URL will remove the files.',
    },
    errors: ['confirmation_required'],
    handle: async ({ params, actor }) => done(await withdrawEnvironment(context, actor, params)),
  });
}

function publicationRecord({
  environment,
  environmentRevision,
  path: at,
  createdAt,
  revision,
  publishedAt,
}: NamedPublication) {
  return {
    environment,
    path: at,
    createdAt: isoTime(createdAt),
    environmentRevision,
    revision,
    publishedAt: isoTimeOr(publishedAt),
  };
}
