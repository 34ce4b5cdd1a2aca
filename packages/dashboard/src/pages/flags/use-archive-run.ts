import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { messageOf } from '../../api/api-error.ts';
import { dropFlags, putFlag } from '../../api/flag-cache.ts';
import { type ArchiveResult, archiveFlags, restoreFlags } from '../../api/flags.ts';
import { queryKeys } from '../../api/query-cache.ts';
import { toastFailure } from '../../changes/actions.tsx';
import { announce } from '../../components/live-region.tsx';
import { toast } from '../../components/toasts.tsx';

/** How far the archiving of flags is. */
export interface ArchiveRun {
  readonly results: readonly ArchiveResult[];
  readonly isRunning: boolean;
  /** Why it ended early. */
  readonly problem: string | undefined;
  /** Archives them; resolves with whether every one was. */
  readonly start: (keys: readonly string[]) => Promise<boolean>;
  /** Goes no further than what is under way, and says what was done, with a way back. */
  readonly leave: () => void;
}

/** Archives flags of a project, and offers to restore them. `confirmed` names what the person consented to. */
export function useArchiveRun(project: string, confirmed: readonly string[]): ArchiveRun {
  const queries = useQueryClient();
  const [results, setResults] = useState<readonly ArchiveResult[]>([]);
  const [isRunning, setRunning] = useState(false);
  const [problem, setProblem] = useState<string>();
  const isLeft = useRef(false);

  async function start(keys: readonly string[]): Promise<boolean> {
    setRunning(true);
    const all: ArchiveResult[] = [];
    try {
      for await (const some of archiveFlags(project, keys, confirmed)) {
        all.push(...some);
        setResults([...all]);
        dropFlags(queries, project, archivedOf(some));
        if (isLeft.current) break;
      }
    } catch (error) {
      setProblem(messageOf(error));
      // Nobody looks at the dialog any more.
      if (isLeft.current) toastFailure('Archiving ended early', error);
    }
    setRunning(false);
    refresh();
    const done = archivedOf(all);
    announce(`${done.length} of ${keys.length} archived`);
    const isAll = done.length === keys.length;
    if (isAll || isLeft.current) tellArchived(done);
    return isAll;
  }

  function leave(): void {
    isLeft.current = true;
    if (!isRunning) tellArchived(archivedOf(results));
  }

  function tellArchived(keys: readonly string[]): void {
    if (keys.length === 0) return;
    toast({
      kind: 'done',
      title: `${subject(keys)} archived`,
      action: { label: 'Undo', run: () => void undo(keys) },
    });
  }

  async function undo(keys: readonly string[]): Promise<void> {
    const settled = await restoreFlags(project, keys, confirmed);
    const refused: string[] = [];
    settled.forEach((each, index) => {
      if (each.status === 'fulfilled') putFlag(queries, project, each.value);
      else refused.push(`${keys[index]}: ${messageOf(each.reason)}`);
    });
    refresh();
    const restored = settled.flatMap((each) => (each.status === 'fulfilled' ? [each.value.key] : []));
    if (restored.length > 0) {
      announce('Undone');
      toast({ kind: 'done', title: `${subject(restored)} restored`, durationMs: 4_000 });
    }
    const title = `${refused.length} of ${keys.length} not restored`;
    if (refused.length > 0) toast({ kind: 'problem', title, detail: refused.slice(0, 3).join(' ') });
  }

  function refresh(): void {
    void queries.invalidateQueries({ queryKey: queryKeys.archivedFlags(project) });
    void queries.invalidateQueries({ queryKey: ['flag', project] });
  }

  return { results, isRunning, problem, start, leave };
}

function archivedOf(results: readonly ArchiveResult[]): string[] {
  return results.flatMap(({ key, error }) => (error === undefined ? [key] : []));
}

function subject(keys: readonly string[]): string {
  return keys.length === 1 ? `${keys[0]} was` : `${keys.length} flags were`;
}
