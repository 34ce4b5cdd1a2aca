import { useQuery } from '@tanstack/react-query';
import { queryKeys } from './query-cache.ts';
import { api, reading } from './request.ts';
import type { CodeReferences, CodeReport, FlagInCode } from './types.ts';

/** Pipelines report with a push, and no event says so. */
const REFRESH_MS = 5 * 60_000;

/** What one repository says about one flag that it has looked for. */
export interface Finding extends CodeReport {
  readonly places: number;
  readonly files: number;
}

/** What the repositories of a project have reported about its flags. */
export function useCodeReferences(project: string) {
  return useQuery({
    queryKey: queryKeys.codeReferences(project),
    queryFn: reading<CodeReferences>(api`projects/${project}/code-references`),
    refetchInterval: REFRESH_MS,
  });
}

/** Where the code of each repository has one flag. */
export function useFlagInCode(project: string, key: string) {
  return useQuery({
    queryKey: [...queryKeys.codeReferences(project), key],
    queryFn: reading<FlagInCode>(api`projects/${project}/flags/${key}/code-references`),
    refetchInterval: REFRESH_MS,
  });
}

/** What each repository says that has looked for a flag; empty if no repository has. */
export function findingsOf({ repositories }: CodeReferences, key: string): readonly Finding[] {
  return repositories.flatMap(({ flags, ...report }) => {
    const found = Object.hasOwn(flags, key) ? flags[key] : undefined;
    return found === undefined ? [] : [{ ...report, ...found }];
  });
}
