import { useCallback } from 'react';
import { useOperator } from '../api/session.ts';
import type { EnvironmentRecord } from '../api/types.ts';

/** Tells why the person who is signed in may not change states of an environment; `undefined` when they may. */
export function useWhyNotChange(): (environment: EnvironmentRecord) => string | undefined {
  const { role, canChangeProtected } = useOperator();
  return useCallback(
    (environment) => {
      if (role === 'viewer') return 'Your role is viewer: you can look, but not change anything.';
      if (environment.protected && !canChangeProtected && role !== 'admin')
        return `${environment.name} is protected, and your account may not change protected environments.`;
      return undefined;
    },
    [role, canChangeProtected],
  );
}
