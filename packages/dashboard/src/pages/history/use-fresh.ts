import { useCallback, useRef } from 'react';
import type { AuditEntryRecord } from '../../api/audit.ts';

/** Tells of a change whether it came after the list was first shown. `list` names what is listed. */
export function useFresh(
  list: string,
  firstPage: readonly AuditEntryRecord[] | undefined,
): (seq: number) => boolean {
  const shown = useRef<{ list: string; newest: number }>(undefined);
  if (firstPage !== undefined && shown.current?.list !== list)
    shown.current = { list, newest: firstPage[0]?.operation ?? 0 };
  return useCallback((seq) => shown.current !== undefined && seq > shown.current.newest, []);
}
