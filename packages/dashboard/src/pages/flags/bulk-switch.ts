import { useQueryClient } from '@tanstack/react-query';
import { isMade, isProposed } from '../../api/api-error.ts';
import { onceReplaced } from '../../api/flag-cache.ts';
import { switchStates } from '../../api/flag-states.ts';
import { useCatchUp } from '../../api/live.tsx';
import { writeInTurn } from '../../api/state-writes.ts';
import type { EnvironmentRecord, FlagRecord, FlagState } from '../../api/types.ts';
import { useChangeGuards } from '../../changes/change-guards.tsx';
import { useUndoOffer } from '../../changes/undo-change.ts';
import { toastFailure } from '../../components/actions.tsx';
import { toast } from '../../components/toasts.tsx';
import { messages as dialogs } from './dialog-messages.ts';

const words = dialogs.bulk;

/** Flags to switch together. */
interface BulkSwitch {
  readonly environment: EnvironmentRecord;
  readonly flags: readonly FlagRecord[];
  readonly enabled: boolean;
}

/**
 * Switches many flags in one environment as one change: one revision, one frame, all or nothing. Flags that are in that
 * state already are skipped. Resolves with whether it succeeded.
 */
export function useBulkSwitch(project: string): (bulk: BulkSwitch) => Promise<boolean> {
  const { askConsent } = useChangeGuards();
  const queries = useQueryClient();
  const undoOf = useUndoOffer();
  const catchUp = useCatchUp();
  return async ({ environment, flags, enabled }) => {
    const steps = flags.flatMap(({ key, environments }) => {
      const before = environments[environment.name]?.state;
      const after: FlagState = { ...before, enabled };
      return before?.enabled === enabled ? [] : [{ key, before, after }];
    });
    if (steps.length === 0) {
      toast({ kind: 'news', title: words.already(enabled, environment.name) });
      return true;
    }

    const consent = await askConsent({ project, environment, steps });
    if (consent === undefined) return false;

    const keys = steps.map(({ key }) => key);
    const confirmed = environment.protected ? environment.name : undefined;
    const places = { project, environment: environment.name, keys };

    try {
      const { seq, revision } = await writeInTurn(queries, places, {
        run: () => switchStates({ ...places, enabled, confirmed, ...consent }),
        // The message says it once for all of them.
        isQuiet: () => true,
      });

      catchUp();
      const title = words.done(steps.length, enabled, environment.name);
      toast({
        kind: 'done',
        title,
        watch: (end) => onceReplaced(queries, { ...places, revision }, end),
        ...undoOf(seq, environment),
      });
      return true;
    } catch (error) {
      toastFailure(words.failed, error);
      return isMade(error) || isProposed(error);
    }
  };
}
