import { defined } from '@halyard/protocol';
import { type ApiClient, apiPath } from './api-client.ts';
import { usageError } from './cli-error.ts';
import { pathInRepository } from './refs-files.ts';
import type { References } from './refs-scan.ts';

/** Bytes of a request, and characters of a path, that the server takes. */
const MOST = { bytes: 1024 * 1024, path: 500 } as const;

/** Places of each flag that are sent: as many of these as one request can carry. */
const PLACES = [20, 5, 1, 0] as const;

/** Which report is sent or removed, as the options of the command say it. */
export type ReportOptions = Readonly<Partial<Record<'repository' | 'commit' | 'link', string>>>;

/** What a search of a folder found. */
interface Searched {
  readonly folder: string;
  /** All keys that were looked for: where the search found none, the report says so. */
  readonly keys: readonly string[];
  readonly found: References;
  readonly options: ReportOptions;
}

/** Refuses a report without a name or a commit, before anything is searched. */
export function requireReport({ repository, commit }: ReportOptions) {
  if (repository !== undefined && commit !== undefined) return { repository, commit };
  throw usageError('--report needs --repository, the name of the code, and --commit, what is searched.');
}

/** Sends how often, and where, a search found each of these keys: paths and lines, no text of the source. */
export async function sendReport(
  client: ApiClient,
  project: string,
  { folder, keys, found, options }: Searched,
): Promise<void> {
  const root = pathInRepository(folder) ?? '';
  const named = { ...requireReport(options), ...defined({ link: options.link }) };
  const bodyWith = (most: number) => {
    const flags = keys.map((key) => flagIn(found, key, { root, most }));
    return JSON.stringify({ ...named, flags });
  };

  // Lazily: only reports up to the one that fits are written.
  const text = PLACES.values()
    .map(bodyWith)
    .find((each) => Buffer.byteLength(each) <= MOST.bytes);
  if (text === undefined)
    throw usageError(`${keys.length} flags are too many for one report of ${MOST.bytes} bytes.`);
  await client.request({
    method: 'PUT',
    path: apiPath`/projects/${project}/code-references`,
    body: text,
    isUnrecorded: true,
  });
}

/** Removes what a repository reported. */
export async function removeReport(
  client: ApiClient,
  project: string,
  { repository }: ReportOptions,
): Promise<string> {
  if (repository === undefined) throw usageError('--forget needs --repository, the name in the report.');
  await client.request({
    method: 'DELETE',
    path: apiPath`/projects/${project}/code-references`,
    query: { repository },
    isUnrecorded: true,
  });
  return repository;
}

function flagIn(
  { places, files }: References,
  key: string,
  { root, most }: { readonly root: string; readonly most: number },
) {
  const found = places.get(key);
  const first = (found?.places ?? []).slice(0, most).flatMap((place) => {
    const end = place.lastIndexOf(':');
    const path = root + place.slice(0, end);
    return path.length <= MOST.path && !/\p{Cc}/u.test(path)
      ? [{ path, line: Number(place.slice(end + 1)) }]
      : [];
  });
  return { key, places: found?.count ?? 0, files: files.get(key) ?? 0, first };
}
