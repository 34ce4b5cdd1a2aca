import Archive from 'lucide-react/icons/archive';
import ChevronDown from 'lucide-react/icons/chevron-down';
import CopyPlus from 'lucide-react/icons/copy-plus';
import Tag from 'lucide-react/icons/tag';
import { useState } from 'react';
import type { EnvironmentRecord, FlagRecord, ProjectRecord } from '../../api/types.ts';
import { useReadOnlyReason } from '../../changes/change-guards.tsx';
import { EnvironmentBadge } from '../../components/badges.tsx';
import { clearOfBar } from '../../components/bottom-bar.ts';
import { Button } from '../../components/button.tsx';
import { classNames } from '../../components/class-names.ts';
import { useActionsCommand } from '../../components/commands.tsx';
import { DialogPart } from '../../components/dialog-part.tsx';
import { lazyPart } from '../../components/lazy-part.ts';
import { Menu, MenuItem } from '../../components/menu.tsx';
import { GRID } from '../../components/page.tsx';
import { useBulkSwitch } from './bulk-switch.ts';
import { messages as dialogs } from './dialog-messages.ts';
import { messages } from './messages.ts';

const words = dialogs.bulk;

const ArchiveDialog = lazyPart(() => import('../../flags/archive-dialog.tsx'), 'ArchiveDialog');
const DescribeDialog = lazyPart(() => import('./describe-dialog.tsx'), 'DescribeDialog');
const CopyBetweenDialog = lazyPart(() => import('../../changes/copy-dialog.tsx'), 'CopyBetweenDialog');

/** The actions on all selected flags. */
export function BulkBar({
  project,
  flags,
  known,
  hidden,
  onDeselectHidden,
  onDone,
}: {
  project: ProjectRecord;
  flags: readonly FlagRecord[];
  /** The tags and owners of the project, to suggest. */
  known: { readonly tags: readonly string[]; readonly owners: readonly string[] };
  /** How many of them the filters hide. */
  hidden: number;
  onDeselectHidden: () => void;
  onDone: () => void;
}) {
  const [dialog, setDialog] = useState<'describe' | 'copy' | 'archive'>();
  const close = () => setDialog(undefined);
  const bar = useActionsCommand();
  const isArchived = flags.some(({ archivedAt }) => archivedAt !== undefined);

  // Another person has archived them all. Archiving from here keeps the dialog, which shows the results.
  if (flags.length === 0 && dialog === undefined) return null;

  return (
    <section
      ref={clearOfBar}
      aria-label={messages.selected}
      data-bottom-bar
      className="sticky bottom-0 z-20 shrink-0 border-t border-line bg-raised"
    >
      <div
        ref={bar}
        className={classNames(
          GRID,
          'flex h-12 items-center gap-2 overflow-x-auto scroll-edges [--edge:var(--raised)]',
        )}
      >
        <strong
          className="mr-2 font-medium whitespace-nowrap"
          role="status"
          title={flags
            .map(({ key }) => key)
            .slice(0, MOST_NAMED)
            .join('\n')}
        >
          {words.selected(flags.length, hidden)}
        </strong>

        {hidden > 0 && <Button onClick={onDeselectHidden}>{words.deselectHidden}</Button>}

        {!isArchived && (
          <>
            <SwitchMenu project={project} flags={flags} enabled onDone={onDone} />
            <SwitchMenu project={project} flags={flags} enabled={false} onDone={onDone} />
            {project.environments.length > 1 && (
              <Button onClick={() => setDialog('copy')}>
                <CopyPlus size={14} aria-hidden />
                {words.copy}
              </Button>
            )}
            <Button onClick={() => setDialog('describe')}>
              <Tag size={14} aria-hidden />
              {words.describe}
            </Button>
            <Button onClick={() => setDialog('archive')}>
              <Archive size={14} aria-hidden />
              {words.archive}
            </Button>
          </>
        )}

        <Button kind="quiet" className="ml-auto" onClick={onDone}>
          {words.clear}
        </Button>
      </div>

      {dialog && (
        <DialogPart title={words[dialog]} onClose={close}>
          {dialog === 'describe' ? (
            <DescribeDialog
              flags={flags}
              known={known}
              project={project.name}
              onClose={close}
              onDone={onDone}
            />
          ) : dialog === 'copy' ? (
            <CopyBetweenDialog
              project={project}
              keys={flags.map(({ key }) => key)}
              onClose={close}
              onCopied={onDone}
            />
          ) : (
            <ArchiveDialog project={project} flags={flags} onClose={close} onDone={onDone} />
          )}
        </DialogPart>
      )}
    </section>
  );
}

/** How many flags the tooltip of the bar names. */
const MOST_NAMED = 30;

/** The environments to turn the flags on or off in. */
function SwitchMenu({
  project,
  flags,
  enabled,
  onDone,
}: {
  project: ProjectRecord;
  flags: readonly FlagRecord[];
  enabled: boolean;
  onDone: () => void;
}) {
  const switchAll = useBulkSwitch(project.name);
  const readOnlyReason = useReadOnlyReason();

  async function run(environment: EnvironmentRecord): Promise<void> {
    if (await switchAll({ environment, flags, enabled })) onDone();
  }

  return (
    <Menu
      align="start"
      trigger={
        <Button>
          {enabled ? words.turnOn : words.turnOff} <ChevronDown size={13} aria-hidden />
        </Button>
      }
    >
      {project.environments.map((environment) => (
        <MenuItem
          key={environment.name}
          label={<EnvironmentBadge environment={environment} />}
          disabled={readOnlyReason(environment) !== undefined}
          onSelect={() => void run(environment)}
        />
      ))}
    </Menu>
  );
}
