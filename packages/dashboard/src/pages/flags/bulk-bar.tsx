import Archive from 'lucide-react/icons/archive';
import ChevronDown from 'lucide-react/icons/chevron-down';
import CopyPlus from 'lucide-react/icons/copy-plus';
import { useCallback, useMemo, useState } from 'react';
import { switchStates } from '../../api/flag-states.ts';
import { useCatchUp } from '../../api/live.tsx';
import { cellName, clearWriteStatus, setWriteStatus } from '../../api/own-writes.ts';
import type { EnvironmentRecord, FlagRecord, FlagState, ProjectRecord } from '../../api/types.ts';
import { toastFailure, useUndoChange } from '../../changes/actions.tsx';
import { useChangeGuards, useReadOnlyReason } from '../../changes/change-guards.tsx';
import { CopyBetweenDialog } from '../../changes/copy-dialog.tsx';
import { EnvironmentBadge } from '../../components/badges.tsx';
import { Button } from '../../components/button.tsx';
import { announce } from '../../components/live-region.tsx';
import { Menu, MenuItem } from '../../components/menu.tsx';
import { toast } from '../../components/toasts.tsx';
import { ArchiveDialog } from './archive-dialog.tsx';

/** What can be done to the chosen flags together. */
export function BulkBar({
  project,
  flags,
  hidden,
  onDeselectHidden,
  onDone,
}: {
  project: ProjectRecord;
  flags: readonly FlagRecord[];
  /** As many of them does the filter hide. */
  hidden: number;
  onDeselectHidden: () => void;
  onDone: () => void;
}) {
  const [isArchiving, setArchiving] = useState(false);
  const [isCopying, setCopying] = useState(false);
  const switchAll = useBulkSwitch(project.name);
  const readOnlyReason = useReadOnlyReason();
  const isArchived = flags.some(({ archivedAt }) => archivedAt !== undefined);
  async function run(environment: ProjectRecord['environments'][number], enabled: boolean): Promise<void> {
    if (await switchAll({ environment, flags, enabled })) onDone();
  }
  // Somebody else has archived them all. Where one is archived here, the dialog says what became of each.
  if (flags.length === 0 && !isArchiving && !isCopying) return null;
  return (
    <section
      aria-label="Selected flags"
      data-bottom-bar
      className="relative flex h-12.25 shrink-0 items-center gap-2 overflow-x-auto border-t border-line bg-raised px-3 py-2 sm:px-4"
    >
      <strong className="mr-2 font-medium whitespace-nowrap" role="status">
        {flags.length} selected{hidden > 0 && `, ${hidden} not shown`}
      </strong>
      {hidden > 0 && <Button onClick={onDeselectHidden}>Deselect hidden</Button>}
      {!isArchived &&
        ([true, false] as const).map((enabled) => (
          <Menu
            key={String(enabled)}
            align="start"
            trigger={
              <Button>
                {enabled ? 'Turn on in' : 'Turn off in'} <ChevronDown size={13} aria-hidden />
              </Button>
            }
          >
            {project.environments.map((environment) => (
              <MenuItem
                key={environment.name}
                disabled={readOnlyReason(environment) !== undefined}
                onSelect={() => void run(environment, enabled)}
              >
                <EnvironmentBadge environment={environment} />
              </MenuItem>
            ))}
          </Menu>
        ))}
      {!isArchived && project.environments.length > 1 && (
        <Button onClick={() => setCopying(true)}>
          <CopyPlus size={14} aria-hidden /> Copy to…
        </Button>
      )}
      {!isArchived && (
        <Button onClick={() => setArchiving(true)}>
          <Archive size={14} aria-hidden /> Archive
        </Button>
      )}
      <Button kind="quiet" className="ml-auto" onClick={onDone}>
        Clear
      </Button>
      {isCopying && (
        <CopyBetweenDialog
          project={project}
          keys={flags.map(({ key }) => key)}
          onClose={() => setCopying(false)}
          onCopied={onDone}
        />
      )}
      {isArchiving && (
        <ArchiveDialog project={project} flags={flags} onClose={() => setArchiving(false)} onDone={onDone} />
      )}
    </section>
  );
}

/** Flags to switch together. */
interface BulkSwitch {
  readonly environment: EnvironmentRecord;
  readonly flags: readonly FlagRecord[];
  readonly enabled: boolean;
}

/**
 * Switches many flags in one environment as one change: one revision, one frame, all or nothing. Those that stand so
 * already are left alone. Resolves with whether it was done.
 */
function useBulkSwitch(project: string): (bulk: BulkSwitch) => Promise<boolean> {
  const { askConsent } = useChangeGuards();
  const undoChange = useUndoChange();
  const catchUp = useCatchUp();
  return useCallback(
    async ({ environment, flags, enabled }) => {
      const steps = flags.flatMap(({ key, environments }) => {
        const before = environments[environment.name]?.state;
        const after: FlagState = { ...before, enabled };
        return before?.enabled === enabled ? [] : [{ key, before, after }];
      });
      const where = `${enabled ? 'on' : 'off'} in ${environment.name}`;
      if (steps.length === 0) {
        toast({ kind: 'news', title: `They are all ${where} already` });
        return true;
      }
      if (!(await askConsent({ project, environment, steps }))) return false;
      const cells = steps.map(({ key }) => cellName(project, environment.name, key));
      for (const cell of cells) setWriteStatus(cell, 'saving');
      try {
        const confirmed = environment.protected ? environment.name : undefined;
        const keys = steps.map(({ key }) => key);
        const { seq } = await switchStates({
          project,
          environment: environment.name,
          keys,
          enabled,
          confirmed,
        });
        for (const cell of cells) setWriteStatus(cell, 'saved');
        catchUp();
        const title = `${steps.length} ${steps.length === 1 ? 'flag is' : 'flags are'} ${where}`;
        announce(`Saved: ${title}`);
        const undo =
          seq === undefined ? undefined : () => undoChange(seq, confirmed === undefined ? [] : [confirmed]);
        toast({
          kind: 'done',
          title,
          ...(undo === undefined ? {} : { action: { label: 'Undo', run: undo } }),
        });
        return true;
      } catch (error) {
        for (const cell of cells) clearWriteStatus(cell);
        toastFailure('Nothing was changed', error);
        return false;
      }
    },
    [project, askConsent, undoChange, catchUp],
  );
}

/** Which flags are chosen for something that is done to many. */
export interface Selection {
  readonly keys: ReadonlySet<string>;
  readonly toggle: (key: string) => void;
  /** Chooses all of these as well, or drops them when all are chosen already. */
  readonly toggleAll: (keys: readonly string[]) => void;
  /** Drops all but these. */
  readonly keep: (keys: ReadonlySet<string>) => void;
  readonly clear: () => void;
}

const NONE: ReadonlySet<string> = new Set();

/** Keeps a choice of flags. Its functions are stable. */
export function useSelection(): Selection {
  const [keys, setKeys] = useState(NONE);
  const deeds = useMemo(
    () => ({
      toggle: (key: string) =>
        setKeys((chosen) => {
          const next = new Set(chosen);
          if (!next.delete(key)) next.add(key);
          return next;
        }),
      toggleAll: (all: readonly string[]) =>
        setKeys((chosen) => {
          const these = new Set(all);
          return these.isSubsetOf(chosen) ? chosen.difference(these) : chosen.union(these);
        }),
      keep: (kept: ReadonlySet<string>) => setKeys((chosen) => new Set(chosen).intersection(kept)),
      clear: () => setKeys(NONE),
    }),
    [],
  );
  return useMemo(() => ({ keys, ...deeds }), [keys, deeds]);
}
