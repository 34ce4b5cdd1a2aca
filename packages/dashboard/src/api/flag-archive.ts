import { api, request } from './request.ts';
import type { FlagRecord } from './types.ts';

/** What became of one flag. */
export interface ArchiveResult {
  readonly key: string;
  readonly archived?: true;
  /** The error's code where it was refused. */
  readonly error?: string;
  readonly message?: string;
}

/** As many are archived with one request, so that a long run shows how far it is. */
const AT_ONCE = 25;

/** Archives flags and gives what became of them, some at a time. Rejects when a whole request is refused. */
export async function* archiveFlags(
  project: string,
  keys: readonly string[],
  confirmed: readonly string[],
): AsyncGenerator<readonly ArchiveResult[]> {
  for (let start = 0; start < keys.length; start += AT_ONCE) {
    const body = { keys: keys.slice(start, start + AT_ONCE) };
    const path = api`projects/${project}/flags/archive`;
    yield (await request<{ results: readonly ArchiveResult[] }>('POST', path, { body, confirmed })).results;
  }
}

/** As many are restored at the same time: each is a request, and a change, of its own. */
const RESTORED_AT_ONCE = 4;

/** Puts archived flags back into use. Gives each as it is then; one that was refused has its error instead. */
export async function restoreFlags(
  project: string,
  keys: readonly string[],
  confirmed: readonly string[],
): Promise<readonly PromiseSettledResult<FlagRecord>[]> {
  const results: PromiseSettledResult<FlagRecord>[] = [];
  for (let start = 0; start < keys.length; start += RESTORED_AT_ONCE) {
    const some = keys.slice(start, start + RESTORED_AT_ONCE);
    const requests = some.map((key) =>
      request<FlagRecord>('POST', api`projects/${project}/flags/${key}/restore`, { confirmed }),
    );
    results.push(...(await Promise.allSettled(requests)));
  }
  return results;
}
