import Archive from 'lucide-react/icons/archive';
import ChevronDown from 'lucide-react/icons/chevron-down';
import CopyPlus from 'lucide-react/icons/copy-plus';
import Tag from 'lucide-react/icons/tag';
import { lazy, useState } from 'react';
import type { FlagRecord, ProjectRecord } from '../../api/types.ts';
import { useReadOnlyReason } from '../../changes/change-guards.tsx';
import { EnvironmentBadge } from '../../components/badges.tsx';
import { Button } from '../../components/button.tsx';
import { classNames } from '../../components/class-names.ts';
import { DialogPart } from '../../components/dialog-part.tsx';
import { Menu, MenuItem } from '../../components/menu.tsx';
import { GRID } from '../../components/page.tsx';
import { useBulkSwitch } from './bulk-switch.ts';
import { messages as dialogs } from './dialog-messages.ts';
import { messages } from './messages.ts';

const words = dialogs.bulk;

const ArchiveDialog = lazy(async () => ({
  default: (await import('../../flags/archive-dialog.tsx')).ArchiveDialog,
}));
const DescribeDialog = lazy(async () => ({
  default: (await import('./describe-dialog.tsx')).DescribeDialog,
}));
const CopyBetweenDialog = lazy(async () => ({
  default: (await import('../../changes/copy-dialog.tsx')).CopyBetweenDialog,
}));

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
  const [isArchiving, setArchiving] = useState(false);
  const [isCopying, setCopying] = useState(false);
  const [isDescribing, setDescribing] = useState(false);
  const switchAll = useBulkSwitch(project.name);
  const readOnlyReason = useReadOnlyReason();
  const isArchived = flags.some(({ archivedAt }) => archivedAt !== undefined);

  async function run(environment: ProjectRecord['environments'][number], enabled: boolean): Promise<void> {
    if (await switchAll({ environment, flags, enabled })) onDone();
  }

  // Another person has archived them all. Archiving from here keeps the dialog, which shows the results.
  if (flags.length === 0 && !isArchiving && !isCopying && !isDescribing) return null;

  return (
    <section
      aria-label={messages.selected}
      data-bottom-bar
      className="relative shrink-0 border-t border-line bg-raised"
    >
      <div className={classNames(GRID, 'flex h-12 items-center gap-2 overflow-x-auto')}>
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
        {!isArchived &&
          ([true, false] as const).map((enabled) => (
            <Menu
              key={String(enabled)}
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
            <CopyPlus size={14} aria-hidden /> {words.copy}
          </Button>
        )}
        {!isArchived && (
          <Button onClick={() => setDescribing(true)}>
            <Tag size={14} aria-hidden /> {words.describe}
          </Button>
        )}
        {!isArchived && (
          <Button onClick={() => setArchiving(true)}>
            <Archive size={14} aria-hidden /> {words.archive}
          </Button>
        )}
        <Button kind="quiet" className="ml-auto" onClick={onDone}>
          {words.clear}
        </Button>
      </div>
      {isDescribing && (
        <DialogPart title={words.describe} onClose={() => setDescribing(false)}>
          <DescribeDialog
            flags={flags}
            known={known}
            project={project.name}
            onClose={() => setDescribing(false)}
            onDone={onDone}
          />
        </DialogPart>
      )}
      {isCopying && (
        <DialogPart title={words.copy} onClose={() => setCopying(false)}>
          <CopyBetweenDialog
            project={project}
            keys={flags.map(({ key }) => key)}
            onClose={() => setCopying(false)}
            onCopied={onDone}
          />
        </DialogPart>
      )}
      {isArchiving && (
        <DialogPart title={words.archive} onClose={() => setArchiving(false)}>
          <ArchiveDialog
            project={project}
            flags={flags}
            onClose={() => setArchiving(false)}
            onDone={onDone}
          />
        </DialogPart>
      )}
    </section>
  );
}

/** How many flags the tooltip of the bar names. */
const MOST_NAMED = 30;
