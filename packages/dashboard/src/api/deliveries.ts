import { useSyncExternalStore } from 'react';
import { createWatchers } from '../browser/watchers.ts';
import type { DeliveryRecord } from './types.ts';

/** How many deliveries are kept: screens only need recent changes. */
const MOST = 200;

const deliveries = new Map<number, DeliveryRecord>();
const { watch, tell } = createWatchers();

/** Stores a delivery event, which may arrive before the response of the change. */
export function noteDelivery(delivery: DeliveryRecord): void {
  deliveries.delete(delivery.seq);
  deliveries.set(delivery.seq, delivery);
  for (const seq of deliveries.keys()) {
    if (deliveries.size <= MOST) break;
    deliveries.delete(seq);
  }
  tell();
}

/** The delivery of a change, as the stream reports it; `undefined` before the first report. */
export function useLiveDelivery(seq: number | undefined): DeliveryRecord | undefined {
  return useSyncExternalStore(watch, () => (seq === undefined ? undefined : deliveries.get(seq)));
}
