import { useMemo } from 'react';
import { Link } from 'wouter';
import type { FlagRecord, ProjectRecord } from '../../api/types.ts';
import { links } from '../../browser/links.ts';
import { LOCALE } from '../../components/time-ago.tsx';
import { isDone } from '../../flags/is-done.ts';

/** With at most this many flags, the link is shown only if some can be removed. */
const MANY_FLAGS = 20;

/** Leads to what can be removed, if there is anything. */
export function CleanUpLink({ project, flags }: { project: ProjectRecord; flags: readonly FlagRecord[] }) {
  const count = useMemo(
    () => flags.filter((flag) => isDone(flag, project.environments.length, Date.now())).length,
    [flags, project.environments.length],
  );
  if (flags.length <= MANY_FLAGS && count === 0) return null;
  return (
    <Link
      href={links.cleanUp(project.name)}
      className="inline-flex h-8 items-center rounded-md px-2 text-ink-2 whitespace-nowrap hover:bg-hover hover:text-ink"
    >
      {text(count)}
    </Link>
  );
}

function text(count: number): string {
  return count === 0 ? 'Clean up' : `${count.toLocaleString(LOCALE)} to clean up`;
}
