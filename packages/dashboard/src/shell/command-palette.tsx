import { useCallback, useState } from 'react';
import { Dialog } from '../components/dialog.tsx';
import { useShortcut } from '../components/use-shortcut.ts';
import { useOfferedCommands } from './commands.tsx';

/** Everything that can be done, by typing: Ctrl+K or Cmd+K. */
export function CommandPalette() {
  const [isOpen, setOpen] = useState(false);
  useShortcut(
    'Mod+k',
    useCallback(() => setOpen((open) => !open), []),
  );
  return isOpen ? <OpenPalette onClose={() => setOpen(false)} /> : null;
}

function OpenPalette({ onClose }: { onClose: () => void }) {
  const commands = useOfferedCommands();
  return (
    <Dialog title="Commands" onClose={onClose}>
      <ul>
        {commands.map(({ id, title, run }) => (
          <li key={id}>
            <button
              type="button"
              className="min-h-8 w-full rounded px-2 text-left hover:bg-hover"
              onClick={() => {
                onClose();
                run();
              }}
            >
              {title}
            </button>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
