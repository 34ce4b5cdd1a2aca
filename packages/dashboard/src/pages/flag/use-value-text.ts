import { useQuery, useQueryClient } from '@tanstack/react-query';
import { readState, type StatePlace } from '../../api/flag-states.ts';
import { queryKeys } from '../../api/query-cache.ts';
import type { Json, StateRecord } from '../../api/types.ts';

/**
 * The value's JSON text as the server keeps it; until it has come, and where the notation cannot differ, what
 * `JSON.stringify` makes of the value. `undefined` for no value.
 */
export function useValueText(place: StatePlace, record: StateRecord | undefined): string | undefined {
  const { project, environment, key } = place;
  const value = record?.state.value;
  const isPlain = value === undefined || value === null || typeof value === 'boolean';
  const queries = useQueryClient();
  const queryKey = queryKeys.valueText(project, environment, key, record?.revision);
  const { data } = useQuery({
    queryKey,
    queryFn: async ({ signal }) => {
      const { revision, valueText = '' } = await readState(place, signal);
      // A newer state, of which the record is still on its way, must not pass for this one.
      return revision === record?.revision ? valueText : (queries.getQueryData<string>(queryKey) ?? '');
    },
    enabled: !isPlain,
    staleTime: Infinity,
    // Somebody flipped the switch: the value most likely stands there as before.
    placeholderData: (before) => (before !== undefined && saysSame(before, value) ? before : undefined),
  });
  if (value === undefined) return undefined;
  return isPlain || data === undefined || data === '' ? JSON.stringify(value) : data;
}

function saysSame(text: string, value: Json | undefined): boolean {
  return text !== '' && JSON.stringify(JSON.parse(text)) === JSON.stringify(value);
}
