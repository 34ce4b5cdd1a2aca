import { useSyncExternalStore } from 'react';
import type { DeliveryRecord, StateRecord } from './types.ts';

/** How a write of this tab stands. */
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

/** Notes how the write of a state stands. */
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

/** Forgets a write that did not happen. */
export function clearWriteStatus(cell: string): void {
  statuses.delete(cell);
  announce();
}

/** How this tab's write of a state stands; `undefined` when there is none. */
export function useWriteStatus(cell: string): WriteStatus | undefined {
  return useSyncExternalStore(subscribe, () => statuses.get(cell));
}

/** Whether this tab is writing the state at this moment. */
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

/** Marks a state of this tab that the server has not taken yet. */
export function markOptimistic(record: StateRecord): void {
  optimistic.add(record);
  markOwnWrite(record);
}

/** Whether the state is only what this tab hopes to write. */
export function isOptimistic(record: StateRecord | undefined): boolean {
  return record !== undefined && optimistic.has(record);
}

/** How many are kept: screens only ask about recent changes. */
const MOST = 200;

const deliveries = new Map<number, DeliveryRecord>();

/** Keeps what the stream tells of a change, which may be before the change's own answer has come. */
export function noteDelivery(delivery: DeliveryRecord): void {
  deliveries.delete(delivery.seq);
  deliveries.set(delivery.seq, delivery);
  for (const seq of deliveries.keys()) {
    if (deliveries.size <= MOST) break;
    deliveries.delete(seq);
  }
  announce();
}

/** How far a change has come, as the stream reports; `undefined` before the first report. */
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
