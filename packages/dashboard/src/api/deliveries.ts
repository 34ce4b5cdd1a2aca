import { useQuery } from '@tanstack/react-query';
import { useCallback, useState } from 'react';
import { useLiveEvent } from './live.tsx';
import type { LiveEvents } from './live-events.ts';
import { api, request } from './request.ts';
import type { DeliveryRecord } from './types.ts';

/** How far a change has come, as the stream tells; `undefined` while it tells nothing. */
export function useLiveDelivery(seq: number | undefined): DeliveryRecord | undefined {
  const [told, setTold] = useState<DeliveryRecord>();
  const listen = useCallback(
    (event: LiveEvents['delivery']) => {
      if (event.seq === seq) setTold(event);
    },
    [seq],
  );
  useLiveEvent('delivery', listen);
  return told?.seq === seq ? told : undefined;
}

/** The same of a change that may be older: asked for once, then as the stream tells. */
export function useDelivery(seq: number | undefined): DeliveryRecord | undefined {
  const told = useLiveDelivery(seq);
  const { data } = useQuery({
    queryKey: ['delivery', seq ?? 0],
    queryFn: ({ signal }) => request<DeliveryRecord>('GET', api`changes/${seq ?? 0}/delivery`, { signal }),
    enabled: seq !== undefined,
    retry: false,
    staleTime: Infinity,
  });
  return told ?? data;
}
