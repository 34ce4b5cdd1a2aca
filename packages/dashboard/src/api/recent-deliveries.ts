import { useSyncExternalStore } from 'react';
import type { DeliveryRecord } from './types.ts';

/** As many are kept: what a screen asks about was told moments ago. */
const MOST = 200;

const deliveries = new Map<number, DeliveryRecord>();
const listeners = new Set<() => void>();

/** Keeps what the stream tells of a change, which may be before the change's own answer has come. */
export function noteDelivery(delivery: DeliveryRecord): void {
  deliveries.delete(delivery.seq);
  deliveries.set(delivery.seq, delivery);
  for (const seq of deliveries.keys()) {
    if (deliveries.size <= MOST) break;
    deliveries.delete(seq);
  }
  for (const listener of listeners) listener();
}

/** How far a change has come, as the stream tells; `undefined` while it has told nothing. */
export function useLiveDelivery(seq: number | undefined): DeliveryRecord | undefined {
  return useSyncExternalStore(subscribe, () => (seq === undefined ? undefined : deliveries.get(seq)));
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
