import { Command } from 'cmdk';
import ArrowDown from 'lucide-react/icons/arrow-down';
import ArrowUp from 'lucide-react/icons/arrow-up';
import CornerDownLeft from 'lucide-react/icons/corner-down-left';
import { useState } from 'react';
import { Dialog } from '../../components/dialog.tsx';
import { PALETTE_FIELD, PALETTE_FRAME, PALETTE_HINT } from '../palette-looks.ts';
import { PaletteResults } from './palette-results.tsx';

/** The command palette: a field, and below it what matches. */
export function Palette({
  text,
  onType,
  onClose,
  onHelp,
}: {
  text: string;
  onType: (text: string) => void;
  onClose: () => void;
  onHelp: () => void;
}) {
  const [chosen, choose] = useState('');
  return (
    <Dialog title="Commands" frame="bare" onClose={onClose} className={PALETTE_FRAME}>
      <Command
        shouldFilter={false}
        loop
        value={chosen}
        onValueChange={choose}
        label="Commands"
        className="flex max-h-[70vh] flex-col"
      >
        <Command.Input
          data-autofocus
          value={text}
          onValueChange={onType}
          placeholder={PALETTE_HINT}
          className={PALETTE_FIELD}
        />
        <Command.List className="min-h-0 flex-1 overflow-y-auto p-1.5" label="What matches">
          <PaletteResults text={text} onChoose={choose} onClose={onClose} onHelp={onHelp} />
        </Command.List>
        <p
          aria-hidden
          className="flex shrink-0 gap-4 border-t border-line px-4 py-2 text-xs text-ink-3 max-sm:hidden"
        >
          <span className="flex items-center gap-1">
            <ArrowUp size={12} />
            <ArrowDown size={12} /> choose
          </span>
          <span className="flex items-center gap-1">
            <CornerDownLeft size={12} /> do it
          </span>
          <span>Esc close</span>
          <span className="ml-auto">? all keys</span>
        </p>
      </Command>
    </Dialog>
  );
}
