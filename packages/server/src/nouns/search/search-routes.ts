import { defined } from '@halyard/protocol';
import type { Actor } from '../../domain/audit.ts';
import { isoTimeOr, ok } from '../../management/api/answers.ts';
import type { ManagementApp } from '../../management/api/management-app.ts';
import { tagged } from '../../management/api/operation.ts';
import { FlagKeySchema, NameSchema, TimeSchema } from '../../management/api/schemas.ts';
import { z } from '../../management/api/zod.ts';
import type { ManagementContext } from '../../management/context.ts';
import { visibleProjects } from '../../management/rights.ts';
import { SEARCH_KINDS, type SearchHit, searchEverywhere } from './search-query.ts';

/** One result of a search. */
export const SearchHitSchema = z
  .object({
    kind: z.enum(SEARCH_KINDS),
    project: NameSchema,
    environment: NameSchema.optional(),
    key: FlagKeySchema.optional(),
    name: z.string().optional().openapi({ description: 'Of a project key.' }),
    id: z.string().optional().openapi({ description: 'Of a project key.' }),
    description: z.string().optional(),
    archivedAt: TimeSchema.optional(),
  })
  .openapi('SearchHit');

/** Mounts the route that finds things by a few letters of them. */
export function mountSearch(app: ManagementApp, context: ManagementContext): void {
  const { mount } = tagged(app, 'About');
  mount({
    method: 'get',
    path: '/api/search',
    id: 'search',
    isHeavy: true,
    role: 'viewer',
    scope: 'visible',
    summary: 'Search projects, environments, flags and project keys',
    query: z.strictObject({
      q: z
        .string()
        .max(200)
        .openapi({ description: 'Searched in names, keys, descriptions, tags and owners.' }),
      limit: z.coerce.number().int().min(1).max(100).default(20),
    }),
    answer: {
      description: 'The results, best first.',
      schema: z.object({ results: z.array(SearchHitSchema) }),
    },
    handle: async ({ actor, query: { q, limit } }) => {
      const hits = await search(context, actor, { text: q, limit });
      return ok({ results: hits.map(hitRecord) });
    },
  });
}

function hitRecord({ kind, project, name, id, description, archivedAt }: SearchHit) {
  const what = { project: {}, environment: { environment: name }, flag: { key: name }, key: { name, id } };
  return { kind, project, ...what[kind], description, archivedAt: isoTimeOr(archivedAt) };
}

/** Projects, environments, flags and keys that the actor may see and that contain the text, best first; empty for a blank text. */
export async function search(
  context: ManagementContext,
  actor: Actor,
  { text, limit }: { readonly text: string; readonly limit: number },
): Promise<readonly SearchHit[]> {
  const words = text.trim();
  const query = { limit, ...defined({ projectIds: visibleProjects(actor) }) };
  return words === '' ? [] : context.store.read((db) => searchEverywhere(db, words, query));
}
