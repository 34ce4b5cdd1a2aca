import { useCallback } from 'react';
import { switchStates } from '../../api/flag-states.ts';
import { useCatchUp } from '../../api/live.tsx';
import { cellName, clearWriteStatus, setWriteStatus } from '../../api/own-writes.ts';
import type { EnvironmentRecord, FlagRecord, FlagState } from '../../api/types.ts';
import { toastFailure, useUndoChange } from '../../changes/actions.tsx';
import { useChangeGuards } from '../../changes/change-guards.tsx';
import { announce } from '../../components/live-region.tsx';
import { toast } from '../../components/toasts.tsx';

/** Flags to switch together. */
export interface BulkSwitch {
  readonly environment: EnvironmentRecord;
  readonly flags: readonly FlagRecord[];
  readonly enabled: boolean;
}

/**
 * Switches many flags in one environment as one change: one revision, one frame, all or nothing. Those that stand so
 * already are left alone. Resolves with whether it was done.
 */
export function useBulkSwitch(project: string): (bulk: BulkSwitch) => Promise<boolean> {
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
