import { useCallback } from 'react';
import { type NewFlag, useCreateFlag } from '../../api/flags.ts';
import type { FlagRecord, FlagState, ProjectRecord } from '../../api/types.ts';
import { useChangeGuards, useReadOnlyReason } from '../../changes/change-guards.tsx';

/** What a person gives for a new flag. */
export interface FlagDraft extends Omit<NewFlag, 'states'> {
  readonly enabledIn: ReadonlySet<string>;
}

/**
 * Makes a flag, off or on in every environment that the person may change; asks first where it is to be on in a
 * protected one. Resolves with the flag, or `undefined` when the person stepped back; rejects with the refusal.
 */
export function useCreateGuarded(
  project: ProjectRecord,
): (draft: FlagDraft) => Promise<FlagRecord | undefined> {
  const { askConsent } = useChangeGuards();
  const readOnlyReason = useReadOnlyReason();
  const { mutateAsync } = useCreateFlag(project.name);
  return useCallback(
    async ({ enabledIn, ...flag }) => {
      const states: Record<string, FlagState> = {};
      const confirmed: string[] = [];
      for (const environment of project.environments.filter((each) => readOnlyReason(each) === undefined)) {
        const { name } = environment;
        const after = { enabled: enabledIn.has(name) };
        const steps = [{ key: flag.key, before: undefined, after }];
        if (after.enabled && !(await askConsent({ project: project.name, environment, steps })))
          return undefined;
        states[name] = after;
        if (environment.protected) confirmed.push(name);
      }
      return mutateAsync({ flag: { ...flag, states }, confirmed });
    },
    [project, askConsent, readOnlyReason, mutateAsync],
  );
}
