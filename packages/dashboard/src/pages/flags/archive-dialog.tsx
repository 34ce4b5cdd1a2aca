import { useQueryClient } from '@tanstack/react-query';
import ArrowRight from 'lucide-react/icons/arrow-right';
import TriangleAlert from 'lucide-react/icons/triangle-alert';
import { useRef, useState } from 'react';
import { messageOf } from '../../api/api-error.ts';
import { dropFlags, putFlag } from '../../api/flag-cache.ts';
import { type ArchiveResult, archiveFlags, restoreFlags } from '../../api/flags.ts';
import { queryKeys } from '../../api/query-cache.ts';
import type { EnvironmentRecord, FlagRecord, ProjectRecord } from '../../api/types.ts';
import { toastFailure } from '../../changes/actions.tsx';
import { ConnectedClients } from '../../changes/production-guard.tsx';
import { EnvironmentBadge } from '../../components/badges.tsx';
import { Button } from '../../components/button.tsx';
import { Dialog, DialogActions } from '../../components/dialog.tsx';
import { announce } from '../../components/live-region.tsx';
import { stateText } from '../../components/state-summary.tsx';
import { ScrollRegion } from '../../components/tables.tsx';
import { LOCALE } from '../../components/time-ago.tsx';
import { toast } from '../../components/toasts.tsx';

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

/** As many flags are named one by one. */
const MOST = 10;

/** Names the flags that are to be archived, what protected environments serve of them now, and who listens there. */
function ArchivePreview({
  project,
  guarded,
  flags,
}: {
  project: string;
  /** The protected environments that have a state of any of the flags. */
  guarded: readonly EnvironmentRecord[];
  flags: readonly FlagRecord[];
}) {
  return (
    <div className="mt-3 flex flex-col gap-3">
      {guarded.map((environment) => (
        <p
          key={environment.name}
          className="flex items-center gap-2 rounded-md bg-warn-soft px-3 py-2 text-warn"
        >
          <TriangleAlert size={16} className="shrink-0" aria-hidden />
          <span className="flex min-w-0 flex-wrap items-center gap-x-1.5">
            <EnvironmentBadge environment={environment} className="font-medium" /> is protected.
            {flags.length > 1 && (
              <span>
                It has {countIn(flags, environment)} of the {flags.length}.
              </span>
            )}
            <ConnectedClients project={project} environment={environment.name} />
          </span>
        </p>
      ))}
      <ScrollRegion label="What is archived" className="max-h-64 overflow-auto rounded-md border border-line">
        <ul className="divide-y divide-line">
          {flags.slice(0, MOST).map((flag) => (
            <li key={flag.key} className="px-3 py-1.5">
              <p className="font-mono text-xs break-all">{flag.key}</p>
              {guarded.map((environment) => (
                <Loss key={environment.name} environment={environment} flag={flag} />
              ))}
            </li>
          ))}
          {flags.length > MOST && <li className="px-3 py-1.5 text-ink-2">and {flags.length - MOST} more</li>}
        </ul>
      </ScrollRegion>
    </div>
  );
}

function Loss({ environment, flag }: { environment: EnvironmentRecord; flag: FlagRecord }) {
  const record = flag.environments[environment.name];
  if (record === undefined) return null;
  return (
    <p className="flex flex-wrap items-center gap-x-2 text-ink-2">
      <EnvironmentBadge environment={environment} />
      <span className="break-all">{stateText(record.state)}</span>
      <ArrowRight size={13} aria-label="becomes" role="img" className="text-ink-3" />
      <strong className="font-semibold text-ink">gone</strong>
    </p>
  );
}

function countIn(flags: readonly FlagRecord[], { name }: EnvironmentRecord): number {
  return flags.filter(({ environments }) => environments[name] !== undefined).length;
}

/** How far the archiving of flags is. */
interface ArchiveRun {
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
function useArchiveRun(project: string, confirmed: readonly string[]): ArchiveRun {
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
