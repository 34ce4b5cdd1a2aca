import { useLiveDelivery } from '../api/deliveries.ts';
import type { DeliveryRecord } from '../api/types.ts';

/** The live delivery of a change: "Seen by 212 of 214 streams, slowest 38 ms". */
export function DeliveryProof({ seq }: { seq: number | undefined }) {
  const delivery = useLiveDelivery(seq);
  return delivery === undefined || delivery.streams === 0 ? null : <span>{deliveryText(delivery)}</span>;
}

/** The same in words. */
export function deliveryText({ seen, streams, slowestMs }: DeliveryRecord): string {
  const slowest = slowestMs < 1 ? 'under 1 ms' : `${Math.round(slowestMs)} ms`;
  return `Seen by ${seen} of ${streams} ${streams === 1 ? 'stream' : 'streams'}, slowest ${slowest}`;
}
