import { useSyncExternalStore } from 'react';
import type { DeliveryRecord, StateRecord } from './types.ts';

/** The status of a write from this tab. */
export type WriteStatus = 'saving' | 'saved' | 'failed';

/** How long "saved" and "failed" stay on the screen, in milliseconds. */
const SHOWN_MS: Readonly<Record<WriteStatus, number>> = { saving: Infinity, saved: 2_500, failed: 8_000 };

const statuses = new Map<string, WriteStatus>();
const listeners = new Set<() => void>();
const mine = new WeakSet<StateRecord>();
const optimistic = new WeakSet<StateRecord>();

/** Names one flag's state in one environment. */
export function cellName(project: string, environment: string, key: string): string {
  return `${project}\n${environment}\n${key}`;
}

/** Sets the status of the write of a state. */
export function setWriteStatus(cell: string, status: WriteStatus): void {
  statuses.set(cell, status);
  announce();
  const shown = SHOWN_MS[status];
  if (shown === Infinity) return;
  setTimeout(() => {
    if (statuses.get(cell) !== status) return;
    statuses.delete(cell);
    announce();
  }, shown);
}

/** Forgets a write that was not made. */
export function clearWriteStatus(cell: string): void {
  statuses.delete(cell);
  announce();
}

/** The status of this tab's write of a state; `undefined` without one. */
export function useWriteStatus(cell: string): WriteStatus | undefined {
  return useSyncExternalStore(subscribe, () => statuses.get(cell));
}

/** Whether this tab is writing the state now. */
export function isWriting(cell: string): boolean {
  return statuses.get(cell) === 'saving';
}

/** Marks a state as written by this tab, so that it is not shown as another person's change. */
export function markOwnWrite(record: StateRecord): void {
  mine.add(record);
}

/** Whether this tab wrote the state. */
export function isOwnWrite(record: StateRecord): boolean {
  return mine.has(record);
}

/** Marks an optimistic state, which the server has not confirmed. */
export function markOptimistic(record: StateRecord): void {
  optimistic.add(record);
  markOwnWrite(record);
}

/** Whether the state is optimistic. */
export function isOptimistic(record: StateRecord | undefined): boolean {
  return record !== undefined && optimistic.has(record);
}

/** How many deliveries are kept: screens only need recent changes. */
const MOST = 200;

const deliveries = new Map<number, DeliveryRecord>();

/** Stores a delivery event, which may arrive before the response of the change. */
export function noteDelivery(delivery: DeliveryRecord): void {
  deliveries.delete(delivery.seq);
  deliveries.set(delivery.seq, delivery);
  for (const seq of deliveries.keys()) {
    if (deliveries.size <= MOST) break;
    deliveries.delete(seq);
  }
  announce();
}

/** The delivery of a change, as the stream reports it; `undefined` before the first report. */
export function useLiveDelivery(seq: number | undefined): DeliveryRecord | undefined {
  return useSyncExternalStore(subscribe, () => (seq === undefined ? undefined : deliveries.get(seq)));
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function announce(): void {
  for (const listener of listeners) listener();
}
