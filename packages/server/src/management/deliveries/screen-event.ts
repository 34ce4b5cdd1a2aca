import { event } from '@halyard/protocol';
import { isAboutPeople } from '../../domain/audit.ts';
import type { ChangePayload, LogRow } from '../../domain/change-log.ts';
import type { DeliveryTotals } from '../../domain/delivery.ts';
import { isoTime } from '../../domain/iso-time.ts';
import { RawJson, type Writable, writeJson } from '../../domain/raw-json.ts';
import { checkStoredState } from '../../domain/stored-state.ts';
import type { PlaceNames } from './names.ts';

/** What screens are told. */
export type ScreenEventName = 'hello' | 'beat' | 'change' | 'delivery' | 'presence';

/** One event of the stream for screens. */
export interface ScreenEvent {
  readonly name: ScreenEventName;
  /** Whose screens it concerns; absent for everybody's. */
  readonly project?: string;
  readonly data: Readonly<Record<string, Writable | undefined>>;
}

/** States that take more room than this, in characters, are left out of an event: the screen fetches them. */
const MAX_STATES_LENGTH = 64 * 1024;

const encoder = new TextEncoder();

/** The event as it goes over the wire. */
export function encodeEvent({ name, data }: ScreenEvent): Uint8Array {
  return encoder.encode(event(name, writeJson(data)));
}

/** The first event on every stream: from which row of the log it goes on, and on which node. */
export function helloEvent(seq: number, node: string): ScreenEvent {
  return { name: 'hello', data: { seq, node } };
}

/** A row of the change log, told to screens: never a secret, not even its digest. */
export function changeEvent(row: LogRow, place: PlaceNames): ScreenEvent {
  const { seq, kind, revision } = row;
  const who = row.actor === '' || isPrivate(row) ? {} : { actor: row.actor };
  return {
    name: 'change',
    ...(place.project === undefined ? {} : { project: place.project }),
    data: { seq, kind, ...place, revision, ...who, at: isoTime(row.at), ...details(row) },
  };
}

/** How far a change has got, over all nodes. Each one supersedes the one before it. */
export function deliveryEvent(seq: number, place: PlaceNames, totals: DeliveryTotals): ScreenEvent {
  return {
    name: 'delivery',
    ...(place.project === undefined ? {} : { project: place.project }),
    data: { seq, ...place, ...totals },
  };
}

/** Whether a row is about people alone: every screen hears that there is something, administrators read what. */
function isPrivate(row: LogRow): boolean {
  if (row.kind !== 'records.changed') return false;
  const { actions }: ChangePayload['records.changed'] = JSON.parse(row.payload);
  return actions.every(isAboutPeople);
}

function details(row: LogRow): Readonly<Record<string, Writable>> {
  if (row.kind === 'records.changed') {
    const { actions }: ChangePayload['records.changed'] = JSON.parse(row.payload);
    return { actions };
  }
  if (row.kind !== 'flags.changed') return {};
  const payload: ChangePayload['flags.changed'] = JSON.parse(row.payload);
  const length = payload.reduce((sum, [key, state]) => sum + key.length + (state?.length ?? 0), 0);
  return length > MAX_STATES_LENGTH ? {} : { changes: payload.map(changeOf) };
}

/** A damaged state is absent for screens as it is for readers. */
function changeOf([key, state]: ChangePayload['flags.changed'][number]): Writable {
  const text = state === null ? undefined : checkStoredState(state);
  return { key, state: text === undefined ? null : new RawJson(text) };
}
