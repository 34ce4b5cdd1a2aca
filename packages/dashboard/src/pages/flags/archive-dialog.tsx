import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { messageOf } from '../../api/api-error.ts';
import { type ArchiveResult, archiveFlags } from '../../api/flag-archive.ts';
import { dropFlags } from '../../api/flag-cache.ts';
import { queryKeys } from '../../api/query-keys.ts';
import type { ProjectRecord } from '../../api/types.ts';
import { Button } from '../../components/button.tsx';
import { Dialog, DialogActions } from '../../components/dialog.tsx';
import { announce } from '../../components/live-region.tsx';
import { ScrollRegion } from '../../components/scroll-region.tsx';
import { toast } from '../../components/toasts.tsx';

/** Archives flags a few at a time, shows how far it is, and what became of each. */
export function ArchiveDialog({
  project,
  keys,
  onClose,
  onDone,
}: {
  project: ProjectRecord;
  keys: readonly string[];
  onClose: () => void;
  onDone: () => void;
}) {
  const queries = useQueryClient();
  const [results, setResults] = useState<readonly ArchiveResult[]>([]);
  const [isRunning, setRunning] = useState(false);
  const [problem, setProblem] = useState<string>();
  const failed = results.filter(({ error }) => error !== undefined);
  const isOver = results.length === keys.length;

  async function run(): Promise<void> {
    setRunning(true);
    const confirmed = project.environments.filter((each) => each.protected).map(({ name }) => name);
    const all: ArchiveResult[] = [];
    try {
      for await (const some of archiveFlags(project.name, keys, confirmed)) {
        all.push(...some);
        setResults([...all]);
        const archived = some.filter(({ error }) => error === undefined);
        dropFlags(
          queries,
          project.name,
          archived.map(({ key }) => key),
        );
      }
    } catch (error) {
      setProblem(messageOf(error));
    }
    setRunning(false);
    void queries.invalidateQueries({ queryKey: queryKeys.archivedFlags(project.name) });
    const done = all.filter(({ error }) => error === undefined).length;
    announce(`${done} of ${keys.length} archived`);
    if (done < keys.length) return;
    toast({ kind: 'done', title: `${done} ${done === 1 ? 'flag was' : 'flags were'} archived` });
    onDone();
  }

  return (
    <Dialog title={`Archive ${keys.length === 1 ? keys[0] : `${keys.length} flags`}?`} onClose={onClose}>
      {results.length === 0 && (
        <p className="text-ink-2">
          Archived flags are served to nobody: programs fall back to their defaults, in{' '}
          {project.environments.map(({ name }) => name).join(', ')}. They keep their states and can be
          restored.
        </p>
      )}
      {(isRunning || results.length > 0) && (
        <div className="mt-2">
          <progress
            className="h-1.5 w-full accent-accent"
            max={keys.length}
            value={results.length}
            aria-label="Progress"
          />
          <p className="text-xs text-ink-2">
            {results.length - failed.length} of {keys.length} archived
            {failed.length > 0 && `, ${failed.length} not`}
          </p>
        </div>
      )}
      {failed.length > 0 && (
        <ScrollRegion
          label="What was not archived"
          className="mt-2 max-h-48 overflow-auto rounded-md border border-line"
        >
          <ul className="divide-y divide-line">
            {failed.map(({ key, message }) => (
              <li key={key} className="px-3 py-1.5">
                <span className="font-mono text-xs break-all">{key}</span>: {message}
              </li>
            ))}
          </ul>
        </ScrollRegion>
      )}
      {problem !== undefined && (
        <p role="alert" className="mt-2 text-danger">
          {problem}
        </p>
      )}
      <DialogActions>
        <Button onClick={isOver ? onDone : onClose}>{isOver ? 'Close' : 'Cancel'}</Button>
        {!isOver && (
          <Button kind="danger" data-autofocus disabled={isRunning} onClick={() => void run()}>
            Archive
          </Button>
        )}
      </DialogActions>
    </Dialog>
  );
}
