import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import type { StatePlace } from '../api/flag-states.ts';
import { isOwnWrite, useShownState } from '../api/state-writes.ts';
import type { EnvironmentRecord, StateRecord } from '../api/types.ts';
import { useChangeState } from './change-state.tsx';

/** How long a row or a cell is highlighted, in milliseconds: as long as the animation `flash` of `styles.css`. */
export const HIGHLIGHT_MS = 2_400;

/** The switch of a state: what it shows, the status of its write, whether another person just changed it, and how to flip it. */
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
  const place = { project, environment: environment.name, key: flagKey };
  const { status, shown } = useShownState(place, record);
  const isForeign = useForeignChange(place, record);

  function flip(enabled: boolean): void {
    // The switch stays enabled while saving, or it would lose the focus.
    if (status === 'saving') return;
    void changeState({ key: flagKey, environment, before: shown, after: { ...shown?.state, enabled } });
  }

  return { status, shown, isForeign, flip };
}

/** Whether another person changed this state a moment ago, while it was on the screen. */
function useForeignChange(
  { project, environment, key }: StatePlace,
  record: StateRecord | undefined,
): boolean {
  const queries = useQueryClient();
  const seen = useRef(record);
  const [isForeign, setForeign] = useState(false);
  useEffect(() => {
    const before = seen.current;
    seen.current = record;
    if (record?.revision === before?.revision) return;
    if (isOwnWrite(queries, { project, environment, key }, record?.revision)) return;
    setForeign(true);
    const timer = setTimeout(() => setForeign(false), HIGHLIGHT_MS);
    return () => clearTimeout(timer);
  }, [queries, project, environment, key, record]);
  return isForeign;
}
