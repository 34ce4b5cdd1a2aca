import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useMemo } from 'react';
import { useChangeGuards } from './change-guards.tsx';
import { type ChangeOutcome, createStateWriter, type StateChange } from './state-writer.tsx';

/**
 * Changes a state the way it is done everywhere here: asks where the environment is protected, shows the new state at
 * once, takes it back when it is refused, shows both versions when somebody else was faster, and offers to undo.
 */
export function useChangeState(project: string): (change: StateChange) => Promise<ChangeOutcome> {
  const queries = useQueryClient();
  const { askConsent, settleConflict } = useChangeGuards();
  const write = useMemo(
    () => createStateWriter({ project, queries, settleConflict }),
    [project, queries, settleConflict],
  );
  return useCallback(
    async (change: StateChange) => {
      const { key, environment, before, after } = change;
      const steps = [{ key, before: before?.state, after }];
      return (await askConsent({ project, environment, steps })) ? write(change) : 'cancelled';
    },
    [project, askConsent, write],
  );
}
