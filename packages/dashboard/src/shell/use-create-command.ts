import { useCallback, useMemo } from 'react';
import { useShortcut } from '../components/use-shortcut.ts';
import { useCommands } from './commands.tsx';

/** Offers to make what a screen lists, with `n` and in the palette; not at all where `isAllowed` is false. */
export function useCreateCommand({
  id,
  title,
  isAllowed,
  run,
}: {
  /** As "key.new". */
  id: string;
  /** As "New key". */
  title: string;
  isAllowed: boolean;
  /** Keep it stable. */
  run: () => void;
}): void {
  useShortcut(
    'n',
    useCallback(() => {
      if (isAllowed) run();
    }, [isAllowed, run]),
  );
  useCommands(
    useMemo(
      () => (isAllowed ? [{ id, title, group: 'Create', shortcut: 'n', run }] : []),
      [id, title, isAllowed, run],
    ),
  );
}
