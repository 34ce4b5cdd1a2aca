import { useEffect, useRef, useState } from 'react';
import { isOwnWrite, useWriteStatus } from '../api/state-writes.ts';
import type { EnvironmentRecord, StateRecord } from '../api/types.ts';
import { useChangeState } from './change-state.tsx';

/** How long a row or a cell is highlighted, in milliseconds: as long as the animation `flash` of `styles.css`. */
export const HIGHLIGHT_MS = 2_400;

/** The switch of a state: the status of its write, whether another person just changed it, and how to flip it. */
export function useStateSwitch({
  project,
  environment,
  flagKey,
  record,
}: {
  project: string;
  environment: EnvironmentRecord;
  flagKey: string;
  record: StateRecord | undefined;
}) {
  const changeState = useChangeState(project);
  const status = useWriteStatus({ project, environment: environment.name, key: flagKey });
  const isForeign = useForeignChange(record);

  function flip(enabled: boolean): void {
    // The switch stays enabled while saving, or it would lose the focus.
    if (status === 'saving') return;
    void changeState({ key: flagKey, environment, before: record, after: { ...record?.state, enabled } });
  }

  return { status, isForeign, flip };
}

/** Whether another person changed this state a moment ago, while it was on the screen. */
function useForeignChange(record: StateRecord | undefined): boolean {
  const seen = useRef(record);
  const [isForeign, setForeign] = useState(false);
  useEffect(() => {
    const before = seen.current;
    seen.current = record;
    const isOther = record?.revision !== before?.revision && !(record !== undefined && isOwnWrite(record));
    if (!isOther || record === before) return;
    setForeign(true);
    const timer = setTimeout(() => setForeign(false), HIGHLIGHT_MS);
    return () => clearTimeout(timer);
  }, [record]);
  return isForeign;
}
