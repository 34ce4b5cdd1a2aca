import type { Queryable } from '../../storage/database.ts';
import { type NullableColumns, placeholders, withoutNulls } from '../../storage/rows.ts';
import { likeText, spellings } from '../../storage/search.ts';

/** The kinds of search hits, in the order of equally good ones. */
export const SEARCH_KINDS = ['project', 'environment', 'flag', 'key'] as const;

/** Where to search. */
export interface SearchQuery {
  /** Hits at most. */
  readonly limit: number;
  /** Ids of the projects to search; absent: all. */
  readonly projectIds?: readonly string[];
}

/** One search result. */
export interface SearchHit {
  readonly kind: (typeof SEARCH_KINDS)[number];
  /** Name of its project, or its own. */
  readonly project: string;
  /** The name, or a flag's key. */
  readonly name: string;
  /** A project key's id. */
  readonly id?: string;
  /** A flag's description. */
  readonly description?: string;
  /** Since when a flag is archived, in epoch milliseconds. */
  readonly archivedAt?: number;
}

type HitRow = Omit<NullableColumns<SearchHit>, 'kind'> & { readonly rank: number };

/** Where each kind is searched: its `name` and the `texts` beside it. */
const SOURCES: Readonly<Record<SearchHit['kind'], { readonly from: string; readonly texts: string[] }>> = {
  project: {
    from: `SELECT name AS project, name, NULL AS id, NULL AS description, NULL AS "archivedAt"
      FROM projects WHERE 1 = 1`,
    texts: [],
  },
  environment: {
    from: `SELECT projects.name AS project, environments.name AS name, NULL AS id, NULL AS description,
        NULL AS "archivedAt"
      FROM environments JOIN projects ON projects.id = environments.project_id WHERE deleted_at IS NULL`,
    texts: [],
  },
  flag: {
    from: `SELECT projects.name AS project, flags.key AS name, NULL AS id, description,
        archived_at AS "archivedAt", tags, owner
      FROM flags JOIN projects ON projects.id = flags.project_id WHERE 1 = 1`,
    texts: ['description', 'tags', 'owner'],
  },
  key: {
    from: `SELECT projects.name AS project, project_keys.name AS name, project_keys.id AS id,
        NULL AS description, NULL AS "archivedAt", last_four AS "lastFour"
      FROM project_keys JOIN projects ON projects.id = project_keys.project_id WHERE revoked_at IS NULL`,
    texts: ['id', '"lastFour"'],
  },
};

/** Searches everywhere: equal names first, then prefixes, names that contain it, and other texts. */
export async function searchEverywhere(
  queryable: Queryable,
  text: string,
  query: SearchQuery,
): Promise<readonly SearchHit[]> {
  const { limit, projectIds } = query;
  if (projectIds?.length === 0) return [];
  const found: { readonly hit: SearchHit; readonly rank: number }[] = [];
  for (const kind of SEARCH_KINDS) {
    for (const { rank, ...row } of await searchOne(queryable, { ...query, kind, text })) {
      found.push({ hit: { kind, ...withoutNulls<Omit<SearchHit, 'kind'>>(row) }, rank });
    }
  }
  return found
    .sort((a, b) => a.rank - b.rank || a.hit.name.length - b.hit.name.length)
    .slice(0, limit)
    .map(({ hit }) => hit);
}

function searchOne(
  queryable: Queryable,
  {
    kind,
    text,
    limit,
    projectIds,
  }: SearchQuery & { readonly kind: SearchHit['kind']; readonly text: string },
): Promise<HitRow[]> {
  const { from, texts } = SOURCES[kind];
  const words = spellings(text);

  /** `first` is the first of three parameters per spelling: equal, prefix, contained. */
  const any = (test: (first: number) => string) =>
    `(${words.map((_, index) => test(3 * index + 1)).join(' OR ')})`;
  const isIn = (column: string) => any((first) => `lower(${column}) LIKE $${first + 2} ESCAPE '\\'`);

  const limited =
    projectIds === undefined
      ? ''
      : `AND projects.id IN (${placeholders(projectIds.length, 3 * words.length + 1)})`;

  return queryable.query<HitRow>(
    `SELECT project, name, id, description, "archivedAt",
        CASE WHEN ${any((first) => `lower(name) = $${first}`)} THEN 0
          WHEN ${any((first) => `lower(name) LIKE $${first + 1} ESCAPE '\\'`)} THEN 1
          WHEN ${isIn('name')} THEN 2 ELSE 3 END AS rank
      FROM (${from} ${limited}) AS found WHERE ${['name', ...texts].map(isIn).join(' OR ')}
      ORDER BY 6, length(name), name, project LIMIT $${3 * words.length + 1}`,
    [
      ...words.flatMap((word) => [word, `${likeText(word)}%`, `%${likeText(word)}%`]),
      limit,
      ...(projectIds ?? []),
    ],
  );
}
