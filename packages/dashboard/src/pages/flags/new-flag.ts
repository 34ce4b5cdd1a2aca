import { useEffect, useState } from 'react';
import { useLocation } from 'wouter';
import type { FlagRecord } from '../../api/types.ts';
import { links } from '../../browser/links.ts';
import { useShortcut } from '../../browser/use-shortcut.ts';
import { HIGHLIGHT_MS } from '../../changes/state-switch.ts';
import { toast } from '../../components/toasts.tsx';
import { messages } from './messages.ts';
import type { ShownFlags } from './shown-flags.ts';

/** The key that the dialog for a new flag begins with, `undefined` while it is closed, and a function to open it. */
export function useNewKey(
  { params, setFilter }: ShownFlags,
  canEdit: boolean,
): readonly [string | undefined, (key: string | undefined) => void] {
  const [newKey, setNewKey] = useState<string>();
  const asked = params.get('new');
  useEffect(() => {
    // The command palette asks through the address, once.
    if (asked === null || !canEdit) return;
    setNewKey(asked);
    setFilter({ new: '' });
  }, [asked, canEdit, setFilter]);
  useShortcut('n', () => canEdit && setNewKey(''));
  return [newKey, setNewKey];
}

/** The row of a flag to highlight for a moment, once it is listed; -1 without one. */
export function useMarkedRow(flags: readonly FlagRecord[]): readonly [number, (key: string) => void] {
  const [markedKey, setMarkedKey] = useState<string>();
  const row = markedKey === undefined ? -1 : flags.findIndex(({ key }) => key === markedKey);
  useEffect(() => {
    if (row === -1) return;
    const timer = setTimeout(() => setMarkedKey(undefined), HIGHLIGHT_MS);
    return () => clearTimeout(timer);
  }, [row]);
  return [row, setMarkedKey];
}

/** Says that a flag was created, and leads to it. */
export function useCreatedToast(
  project: string,
  { isShown }: ShownFlags,
  mark: (key: string) => void,
): (flag: FlagRecord) => void {
  const [, navigate] = useLocation();
  const { created } = messages;
  return (flag) => {
    const { key } = flag;
    const title = created.done(key);
    if (isShown(flag)) {
      mark(key);
      const open = () => navigate(links.flag(project, key));
      toast({ kind: 'done', title, action: { label: created.open, run: open } });
      return;
    }

    const show = () => {
      mark(key);
      navigate(links.flags(project));
    };
    toast({ kind: 'done', title, detail: created.hidden, action: { label: created.show, run: show } });
  };
}
