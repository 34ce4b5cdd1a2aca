import { useLiveDelivery } from '../api/deliveries.ts';
import type { DeliveryRecord } from '../api/types.ts';

/** The live delivery of a change: "Seen by 212 of 214 streams, slowest 38 ms". It is not read out as it grows. */
export function DeliveryProof({ seq }: { seq: number | undefined }) {
  const delivery = useLiveDelivery(seq);
  return delivery === undefined || delivery.streams === 0 ? null : (
    <span aria-live="off">{deliveryText(delivery)}</span>
  );
}

/** The same in words. */
export function deliveryText({ seen, streams, slowestMs }: DeliveryRecord): string {
  const slowest = slowestMs < 1 ? 'under 1 ms' : `${Math.round(slowestMs)} ms`;
  return `Seen by ${seen} of ${streams} ${streams === 1 ? 'stream' : 'streams'}, slowest ${slowest}`;
}

/**
 * The delivery of a change over all its environments; `undefined` while unknown. A change of several flags is several deliveries to the
 * same streams: a stream that has taken the last one has the earlier ones, so each stream counts once.
 */
export function sumOf(deliveries: readonly DeliveryRecord[]): DeliveryRecord | undefined {
  const [first] = deliveries;
  if (first === undefined || deliveries.length === 1) return first;

  const inOrder = [...deliveries].sort((one, other) => one.seq - other.seq);
  const last = [...new Map(inOrder.map((each) => [each.environment, each])).values()];

  return {
    ...first,
    streams: last.reduce((sum, { streams }) => sum + streams, 0),
    seen: last.reduce((sum, { seen }) => sum + seen, 0),
    slowestMs: Math.max(...deliveries.map(({ slowestMs }) => slowestMs)),
  };
}
