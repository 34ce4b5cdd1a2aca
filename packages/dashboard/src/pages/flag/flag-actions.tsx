import Archive from 'lucide-react/icons/archive';
import ArchiveRestore from 'lucide-react/icons/archive-restore';
import Ellipsis from 'lucide-react/icons/ellipsis';
import Trash from 'lucide-react/icons/trash-2';
import { useState } from 'react';
import { useCan } from '../../api/session.ts';
import type { FlagRecord, ProjectRecord } from '../../api/types.ts';
import { Button } from '../../components/button.tsx';
import { Menu, MenuItem } from '../../components/menu.tsx';
import { ArchiveDialog } from '../flags/archive-dialog.tsx';
import { useFlagDeeds } from './use-flag-deeds.ts';

/** What can be done with a flag as a whole. */
export function FlagActions({ project, flag }: { project: ProjectRecord; flag: FlagRecord }) {
  const [isArchiving, setArchiving] = useState(false);
  const { restore, remove } = useFlagDeeds(project, flag);
  const canEdit = useCan('editor');
  const canDelete = useCan('admin');
  const isArchived = flag.archivedAt !== undefined;
  if (!canEdit) return null;
  return (
    <>
      <Menu
        trigger={
          <Button aria-label="More actions" className="px-2">
            <Ellipsis size={16} aria-hidden />
          </Button>
        }
      >
        {isArchived ? (
          <MenuItem onSelect={() => void restore()}>
            <ArchiveRestore size={14} aria-hidden /> Restore
          </MenuItem>
        ) : (
          <MenuItem onSelect={() => setArchiving(true)}>
            <Archive size={14} aria-hidden /> Archive…
          </MenuItem>
        )}
        <MenuItem isDangerous disabled={!isArchived || !canDelete} onSelect={() => void remove()}>
          <Trash size={14} aria-hidden />
          <span>
            Delete for good…
            {!isArchived && <span className="block text-2xs">Archive it first</span>}
            {isArchived && !canDelete && <span className="block text-2xs">Takes an administrator</span>}
          </span>
        </MenuItem>
      </Menu>
      {isArchiving && (
        <ArchiveDialog
          project={project}
          flags={[flag]}
          onClose={() => setArchiving(false)}
          onDone={() => setArchiving(false)}
        />
      )}
    </>
  );
}
