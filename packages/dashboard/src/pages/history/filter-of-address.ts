import type { AuditFilter } from '../../api/audit.ts';

/** The members of the address that narrow a history. */
const MEMBERS = ['environment', 'actor', 'action', 'q', 'target'] as const;

/** What the address asks for; without a project nothing can be narrowed to an environment. */
export function filterOfAddress(params: URLSearchParams, project: string | undefined): AuditFilter {
  const chosen = MEMBERS.filter((name) => name !== 'environment' || project !== undefined).flatMap((name) => {
    const value = params.get(name) ?? '';
    return value === '' ? [] : [[name, value] as const];
  });
  return { ...(project === undefined ? {} : { project }), ...Object.fromEntries(chosen) };
}
