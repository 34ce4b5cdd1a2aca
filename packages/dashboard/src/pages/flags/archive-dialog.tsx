import { useState } from 'react';
import type { FlagRecord, ProjectRecord } from '../../api/types.ts';
import { Button } from '../../components/button.tsx';
import { Dialog, DialogActions } from '../../components/dialog.tsx';
import { LOCALE } from '../../components/locale.ts';
import { ScrollRegion } from '../../components/scroll-region.tsx';
import { ArchivePreview } from './archive-preview.tsx';
import { useArchiveRun } from './use-archive-run.ts';

/** Shows what archiving takes away, archives a few at a time, shows how far it is, and what became of each. */
export function ArchiveDialog({
  project,
  flags: chosen,
  onClose,
  onDone,
}: {
  project: ProjectRecord;
  flags: readonly FlagRecord[];
  onClose: () => void;
  onDone: () => void;
}) {
  // What is archived leaves the list that they were chosen from.
  const [flags] = useState(chosen);
  const has = (name: string) => flags.some(({ environments }) => environments[name] !== undefined);
  const places = project.environments.filter(({ name }) => has(name));
  const guarded = places.filter((environment) => environment.protected);
  // No more than what is shown: where a state came to be meanwhile, the server refuses.
  const confirmed = guarded.map(({ name }) => name);
  const { results, isRunning, problem, start, leave } = useArchiveRun(project.name, confirmed);
  const failed = results.filter(({ error }) => error !== undefined);
  const isOver = results.length === flags.length;

  async function run(): Promise<void> {
    if (await start(flags.map(({ key }) => key))) onDone();
  }

  function close(): void {
    leave();
    if (isOver) onDone();
    else onClose();
  }

  return (
    <Dialog
      title={`Archive ${flags.length === 1 ? flags[0]?.key : `${flags.length} flags`}?`}
      onClose={close}
    >
      {results.length === 0 && (
        <>
          <p className="text-ink-2">
            Archived flags are served to nobody: programs fall back to their defaults
            {places.length > 0 && `, in ${list(places.map(({ name }) => name))}`}. They keep their states and
            can be restored.
          </p>
          <ArchivePreview project={project.name} guarded={guarded} flags={flags} />
        </>
      )}
      {(isRunning || results.length > 0) && (
        <div className="mt-2">
          <progress
            className="h-1.5 w-full accent-accent"
            max={flags.length}
            value={results.length}
            aria-label="Progress"
          />
          <p className="text-xs text-ink-2">
            {results.length - failed.length} of {flags.length} archived
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
        <Button data-autofocus onClick={close}>
          {isOver ? 'Close' : isRunning ? 'Stop' : 'Cancel'}
        </Button>
        {!isOver && (
          <Button kind="danger" disabled={isRunning} onClick={() => void run()}>
            Archive
          </Button>
        )}
      </DialogActions>
    </Dialog>
  );
}

function list(places: readonly string[]): string {
  return new Intl.ListFormat(LOCALE).format(places);
}
