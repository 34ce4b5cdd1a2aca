import { useQuery } from '@tanstack/react-query';
import Radio from 'lucide-react/icons/radio';

import { useLiveDelivery } from '../../api/deliveries.ts';
import { api, request } from '../../api/request.ts';
import type { DeliveryRecord } from '../../api/types.ts';
import { classNames } from '../class-names.ts';
import { deliveryText } from '../delivery-proof.tsx';

/**
 * How far change `seq` has come, growing as nodes report: "Seen by 212 of 214 streams, slowest 38 ms". Nothing while
 * nothing is known; says so where no client was connected.
 */
export function SeenBy({ seq, className }: { seq: number | undefined; className?: string }) {
  const delivery = useDelivery(seq);
  if (delivery === undefined) return null;
  const { streams, seen } = delivery;
  const text = streams === 0 ? 'No client was connected' : deliveryText(delivery);
  return (
    <span
      className={classNames('inline-flex items-center gap-1.5 text-xs text-ink-2', className)}
      data-testid="seen-by"
    >
      <Radio
        size={13}
        aria-hidden
        className={classNames(
          'shrink-0',
          streams > 0 && seen >= streams ? 'text-good' : 'text-ink-3',
          seen < streams && 'animate-shimmer',
        )}
      />
      {text}
    </span>
  );
}

/** Asked for once, then as the stream tells; `undefined` for a change that is too old to be known. */
function useDelivery(seq: number | undefined): DeliveryRecord | undefined {
  const told = useLiveDelivery(seq);
  const { data } = useQuery({
    queryKey: ['delivery', seq ?? 0],
    queryFn: ({ signal }) => request<DeliveryRecord>('GET', api`changes/${seq ?? 0}/delivery`, { signal }),
    enabled: seq !== undefined,
    retry: false,
    staleTime: 60_000,
  });
  return told ?? data;
}
