import Archive from 'lucide-react/icons/archive';
import ChevronDown from 'lucide-react/icons/chevron-down';
import CopyPlus from 'lucide-react/icons/copy-plus';
import { useState } from 'react';
import type { FlagRecord, ProjectRecord } from '../../api/types.ts';
import { useReadOnlyReason } from '../../changes/change-guards.tsx';
import { CopyBetweenDialog } from '../../changes/copy-dialog.tsx';
import { Button } from '../../components/button.tsx';
import { EnvironmentBadge } from '../../components/environment-badge.tsx';
import { Menu, MenuItem } from '../../components/menu.tsx';
import { ArchiveDialog } from './archive-dialog.tsx';
import { useBulkSwitch } from './use-bulk-switch.ts';

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
