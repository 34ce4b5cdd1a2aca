import { useCallback, useRef } from 'react';
import type { AuditEntryRecord } from '../../api/audit.ts';

/** Tells of a change whether it came after the list was first shown. `list` names what is listed. */
export function useFresh(
  list: string,
  entries: readonly AuditEntryRecord[] | undefined,
): (seq: number) => boolean {
  const shown = useRef<{ list: string; newest: number }>(undefined);
  if (entries !== undefined && shown.current?.list !== list)
    shown.current = { list, newest: entries[0]?.operation ?? 0 };
  return useCallback((seq) => shown.current !== undefined && seq > shown.current.newest, []);
}
