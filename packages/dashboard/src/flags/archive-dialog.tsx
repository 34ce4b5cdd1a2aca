import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { Link } from 'wouter';
import { isMade, messageFor, messageOf } from '../api/api-error.ts';
import type { Wanted } from '../api/approvals.ts';
import { dropFlags, putFlag } from '../api/flag-cache.ts';
import { type ArchiveProposed, archiveFlags, restoreFlags } from '../api/flags.ts';
import { queryKeys } from '../api/query-cache.ts';
import type { ArchiveResult, EnvironmentRecord, FlagRecord, ProjectRecord } from '../api/types.ts';
import { links } from '../browser/links.ts';
import { useChangeGuards } from '../changes/change-guards.tsx';
import { messages as questions } from '../changes/dialog-messages.ts';
import { NoteField } from '../changes/note-field.tsx';
import { ProtectedNote } from '../changes/protected-note.tsx';
import { DONE_MS, toastFailure } from '../components/actions.tsx';
import { EnvironmentBadge } from '../components/badges.tsx';
import { Becomes } from '../components/becomes.tsx';
import { Button } from '../components/button.tsx';
import { Dialog, DialogActions } from '../components/dialog.tsx';
import { useForm } from '../components/form.tsx';
import { announce } from '../components/live-region.tsx';
import { stateText } from '../components/state-summary.tsx';
import { ScrollRegion } from '../components/tables.tsx';
import { toast } from '../components/toasts.tsx';
import { messages as words } from './messages.ts';

/** Previews what archiving removes, asks why, archives a few flags at a time, and shows the progress and every failure. */
export function ArchiveDialog({
  project,
  flags: selected,
  onClose,
  onDone,
}: {
  project: ProjectRecord;
  flags: readonly FlagRecord[];
  onClose: () => void;
  onDone: () => void;
}) {
  // Archived flags leave the list that they were selected from.
  const [flags] = useState(selected);
  const has = (name: string) => flags.some(({ environments }) => environments[name] !== undefined);
  const places = project.environments.filter(({ name }) => has(name));
  const guarded = places.filter((environment) => environment.protected);
  // Only what the preview shows: the server refuses where a state was added since.
  const confirmed = guarded.map(({ name }) => name);
  const needApproval = new Set(
    flags
      .filter(({ environments }) =>
        guarded.some(({ name, approvals }) => approvals > 0 && environments[name] !== undefined),
      )
      .map(({ key }) => key),
  );
  const needsApproval = needApproval.size > 0;
  const isReasonRequired = places.some(({ reasonRequired }) => reasonRequired);
  const asksReason = !needsApproval && (isReasonRequired || guarded.length > 0);

  const { askApproval } = useChangeGuards();
  const { results, isRunning, problem, start, leave } = useArchiveRun(project.name, {
    confirmed,
    needApproval,
    places,
    // To restore them would need approval, too.
    isUndoable: !needsApproval,
  });
  const failed = results.filter((result) => 'error' in result);
  const isOver = results.length === flags.length;

  const [note, setNote] = useState('');
  const form = useForm({
    problems: {
      note: asksReason && isReasonRequired && note.trim() === '' ? questions.noteMissing : undefined,
    },
    submit: run,
  });

  const stop = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    // The button that started it is disabled now.
    if (isRunning) stop.current?.focus();
  }, [isRunning]);

  async function run(): Promise<void> {
    const keys = flags.map(({ key }) => key);
    const wanted = await askApproval({
      project: project.name,
      environments: places,
      what: words.what(keys),
      list: <ArchivedList guarded={guarded} flags={flags} />,
      canBeEmergency: true,
      note: note.trim() === '' ? undefined : note.trim(),
    });
    if (wanted !== undefined && (await start(keys, wanted))) onDone();
  }

  function close(): void {
    leave();
    if (isOver) onDone();
    else onClose();
  }

  return (
    <Dialog title={words.title(flags.map(({ key }) => key))} onClose={close}>
      <form {...form.props}>
        {results.length === 0 && (
          <>
            <p className="text-ink-2" data-description>
              {words.effect(places.map(({ name }) => name))}
            </p>
            <ArchivePreview project={project.name} guarded={guarded} flags={flags} />
            {asksReason && (
              <div className="mt-3">
                <NoteField
                  value={note}
                  isRequired={isReasonRequired}
                  error={form.problem('note')}
                  onChange={setNote}
                />
              </div>
            )}
          </>
        )}

        {(isRunning || results.length > 0) && (
          <div className="mt-2">
            <progress
              className="h-1.5 w-full accent-accent"
              max={flags.length}
              value={results.length}
              aria-label={words.progressLabel}
            />
            <p className="text-xs text-ink-2">
              {words.progress(
                results.some((result) => 'proposed' in result) ? words.proposedSoFar : words.archivedSoFar,
                results.length - failed.length,
                flags.length,
                failed.length,
              )}
            </p>
          </div>
        )}

        {failed.length > 0 && (
          <ScrollRegion
            label={words.failures}
            className="mt-2 max-h-48 overflow-auto rounded-md border border-line"
          >
            <ul className="divide-y divide-line">
              {failed.map(({ key, error }) => (
                <li key={key} className="px-3 py-1.5">
                  <span className="font-mono text-xs wrap-anywhere">{key}</span>:{' '}
                  {messageFor(error) ?? words.unknownFailure}
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
          <Button ref={stop} data-autofocus onClick={close}>
            {isOver ? words.close : isRunning ? words.stop : words.cancel}
          </Button>
          {!isOver && (
            <Button type="submit" kind={needsApproval ? 'primary' : 'danger'} disabled={isRunning}>
              {needsApproval ? words.propose : words.submit}
            </Button>
          )}
        </DialogActions>
      </form>
    </Dialog>
  );
}

/** How many flags are named one by one. */
const MOST = 10;

/** Lists the flags to archive, what protected environments serve of them now, and how many clients listen there. */
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
        <ProtectedNote key={environment.name} project={project} environment={environment}>
          {flags.length > 1 && <span>{words.affected(countIn(flags, environment), flags.length)}</span>}
        </ProtectedNote>
      ))}
      <ArchivedList guarded={guarded} flags={flags} />
    </div>
  );
}

function ArchivedList({
  guarded,
  flags,
}: {
  guarded: readonly EnvironmentRecord[];
  flags: readonly FlagRecord[];
}) {
  return (
    <ScrollRegion label={words.preview} className="max-h-64 overflow-auto rounded-md border border-line">
      <ul className="divide-y divide-line">
        {flags.slice(0, MOST).map((flag) => (
          <li key={flag.key} className="px-3 py-1.5">
            <p className="font-mono text-xs wrap-anywhere">{flag.key}</p>
            {guarded.map((environment) => (
              <Loss key={environment.name} environment={environment} flag={flag} />
            ))}
          </li>
        ))}
        {flags.length > MOST && <li className="px-3 py-1.5 text-ink-2">{words.more(flags.length - MOST)}</li>}
      </ul>
    </ScrollRegion>
  );
}

function Loss({ environment, flag }: { environment: EnvironmentRecord; flag: FlagRecord }) {
  const record = flag.environments[environment.name];
  if (record === undefined) return null;
  return (
    <p className="flex flex-wrap items-center gap-x-2 text-ink-2">
      <EnvironmentBadge environment={environment} />
      <span className="wrap-anywhere">{stateText(record.state)}</span>
      <Becomes />
      <strong className="font-semibold text-ink">{words.removed}</strong>
    </p>
  );
}

function countIn(flags: readonly FlagRecord[], { name }: EnvironmentRecord): number {
  return flags.filter(({ environments }) => environments[name] !== undefined).length;
}

type Outcome = ArchiveResult | ArchiveProposed;

/** The progress of archiving flags. */
interface ArchiveRun {
  readonly results: readonly Outcome[];
  readonly isRunning: boolean;
  /** Why it stopped early. */
  readonly problem: string | undefined;
  /** Archives or proposes them; resolves with whether this was done for all. */
  readonly start: (keys: readonly string[], wanted: Wanted) => Promise<boolean>;
  /** Stops after the request in flight, and shows what was archived, with Undo. */
  readonly leave: () => void;
}

/** Archives flags of a project, and offers to restore them. `confirmed` names what the person consented to. */
function useArchiveRun(
  project: string,
  {
    confirmed,
    needApproval,
    places,
    isUndoable,
  }: {
    readonly confirmed: readonly string[];
    readonly needApproval: ReadonlySet<string>;
    readonly places: readonly EnvironmentRecord[];
    readonly isUndoable: boolean;
  },
): ArchiveRun {
  const queries = useQueryClient();
  const { askApproval } = useChangeGuards();
  const [results, setResults] = useState<readonly Outcome[]>([]);
  const [isRunning, setRunning] = useState(false);
  const [problem, setProblem] = useState<string>();
  const isLeft = useRef(false);

  async function start(keys: readonly string[], wanted: Wanted): Promise<boolean> {
    setRunning(true);
    const all: Outcome[] = [];
    try {
      for await (const some of archiveFlags(project, keys, { confirmed, needApproval, ...wanted })) {
        all.push(...some);
        setResults([...all]);
        dropFlags(queries, project, archivedOf(some));
        if (isLeft.current) break;
      }
    } catch (error) {
      setProblem(messageOf(error));
      // The dialog is closed.
      if (isLeft.current) toastFailure(words.endedEarly, error);
    }
    setRunning(false);
    refresh();

    const done = archivedOf(all);
    const isAll = all.length === keys.length && !all.some((result) => 'error' in result);
    if (isAll || isLeft.current) showArchived(done);
    else if (done.length > 0) announce(words.announced(done.length, keys.length));
    showProposed(all.filter((result) => 'proposed' in result).length);
    return isAll;
  }

  function leave(): void {
    isLeft.current = true;
    if (!isRunning) showArchived(archivedOf(results));
  }

  function showArchived(keys: readonly string[]): void {
    if (keys.length === 0) return;
    toast({
      kind: 'done',
      title: words.done(keys),
      ...(isUndoable ? { action: { label: words.undo, run: () => void undo(keys) } } : {}),
    });
  }

  /** Each proposal has replaced the message of the one before it. */
  function showProposed(count: number): void {
    if (count < 2) return;
    toast({
      kind: 'done',
      about: questions.propose.proposed,
      title: words.proposed(count),
      detail: (
        <Link href={links.proposals(project)} className="text-accent underline">
          {words.seeProposals}
        </Link>
      ),
    });
  }

  async function undo(keys: readonly string[]): Promise<void> {
    const wanted = await askApproval({ project, environments: places });
    if (wanted === undefined) return;

    const settled = await restoreFlags(project, keys, { confirmed, note: wanted.note });
    const refused: string[] = [];
    settled.forEach((each, index) => {
      if (each.status === 'fulfilled') putFlag(queries, project, each.value);
      else if (!isMade(each.reason)) refused.push(`${keys[index]}: ${messageOf(each.reason)}`);
    });
    refresh();

    const restored = settled.flatMap((each) => (each.status === 'fulfilled' ? [each.value.key] : []));
    if (restored.length > 0) toast({ kind: 'done', title: words.restored(restored), durationMs: DONE_MS });
    const title = words.notRestored(refused.length, keys.length);
    if (refused.length > 0) toast({ kind: 'problem', title, detail: refused.slice(0, 3).join(' ') });
  }

  function refresh(): void {
    void queries.invalidateQueries({ queryKey: queryKeys.archivedFlags(project) });
    void queries.invalidateQueries({ queryKey: ['flag', project] });
  }

  return { results, isRunning, problem, start, leave };
}

function archivedOf(results: readonly Outcome[]): string[] {
  return results.flatMap((result) => ('archived' in result ? [result.key] : []));
}
