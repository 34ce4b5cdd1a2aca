import { defined, event } from '@halyard/protocol';
import { isAboutPeople } from '../../domain/audit.ts';
import { type ChangePayload, type LogRow, recordActions } from '../../domain/change-log.ts';
import type { DeliveryTotals } from '../../domain/delivery.ts';
import { servedState } from '../../domain/flag-state-text.ts';
import { isoTime } from '../../domain/iso-time.ts';
import { RawJson, type Writable, writeJson } from '../../domain/raw-json.ts';
import type { ServedPlaces } from '../../domain/read-side.ts';
import { EventStream } from '../../http/event-stream.ts';

const encoder = new TextEncoder();

/** Milliseconds between two keep-alives. Before each, the reader's session or token is checked again. */
const KEEP_ALIVE_MS = 15_000;

/** Bytes a dashboard may leave unread before it is disconnected; it reconnects and fetches everything again. */
const MAX_QUEUED_BYTES = 1024 * 1024;

/** An event, because a browser hides comments from its page, and the page must know that the stream is alive. */
const KEEP_ALIVE = encodeEvent({ name: 'beat', data: {} });

/** The reader of an event stream. */
export interface EventReaderOptions {
  /** Only events of this project, and those of no project; absent: every event. */
  readonly project?: string | undefined;
  /** Ids of the projects that the reader may see; absent: all. */
  readonly visible?: readonly string[];
  /** Whether the reader's session or token is still valid. */
  readonly stillValid: () => Promise<boolean>;
}

/** One open stream of events for a dashboard. */
class EventReader extends EventStream {
  readonly #project: string | undefined;
  readonly #visible: ReadonlySet<string> | undefined;

  constructor({ project, visible, stillValid }: EventReaderOptions) {
    super({ maxQueuedBytes: MAX_QUEUED_BYTES, stillValid });
    this.#project = project;
    this.#visible = visible && new Set(visible);
  }

  /** Whether the reader may see an event, and wants to. */
  wants({ project, projectId }: DashboardEvent): boolean {
    // By id: another project may have the name once this one is deleted.
    const isOfProject = project !== undefined || projectId !== undefined;
    if (isOfProject && this.#visible?.has(projectId ?? '') === false) return false;
    return project === undefined || this.#project === undefined || this.#project === project;
  }
}

/** Sends events to all open dashboards. Without any it costs nothing: events are not even built. */
export class DashboardStreams {
  readonly #readers = new Set<EventReader>();
  readonly #timer: Timer;

  /** `keepAliveMs` is for tests. */
  constructor({ keepAliveMs = KEEP_ALIVE_MS }: { readonly keepAliveMs?: number } = {}) {
    this.#timer = setInterval(() => this.#keepAlive(), keepAliveMs);
    this.#timer.unref();
  }

  /** How many dashboards watch. */
  get size(): number {
    return this.#readers.size;
  }

  /** Opens a stream that begins with `hello` and continues with every event published from now on. */
  open(options: EventReaderOptions, hello: DashboardEvent): ReadableStream<Uint8Array> {
    const reader = new EventReader(options);
    this.#readers.add(reader);
    return reader.open(encodeEvent(hello), (gone) => this.#readers.delete(gone));
  }

  /** Sends an event to the dashboards that it concerns. A dashboard that does not keep up is disconnected. */
  publish(event: DashboardEvent): void {
    let bytes: Uint8Array | undefined;
    for (const reader of this.#readers) {
      if (!reader.wants(event)) continue;
      bytes ??= encodeEvent(event);
      if (!reader.send(bytes)) this.#end(reader);
    }
  }

  /** Ends the streams of readers whose session or token has ended or has other rights. */
  recheck(): void {
    for (const reader of this.#readers) {
      void reader.isAuthorized().then((isAuthorized) => {
        if (!isAuthorized) this.#end(reader);
      });
    }
  }

  /** Ends every stream: this node can no longer promise every change. */
  endAll(): void {
    for (const reader of this.#readers) this.#end(reader);
  }

  /** Ends everything. Safe to call twice. */
  close(): void {
    clearInterval(this.#timer);
    this.endAll();
  }

  #end(reader: EventReader): void {
    this.#readers.delete(reader);
    reader.end();
  }

  #keepAlive(): void {
    for (const reader of this.#readers) {
      void reader.isAuthorized().then((isAuthorized) => {
        if (!isAuthorized || !reader.send(KEEP_ALIVE)) this.#end(reader);
      });
    }
  }
}

/** The names of dashboard events. */
export type DashboardEventName = 'hello' | 'beat' | 'change' | 'delivery' | 'presence';

/** One event of the dashboard stream. */
export interface DashboardEvent {
  readonly name: DashboardEventName;
  /** The project whose dashboards get it, by name and by id; absent for all. */
  readonly project?: string;
  readonly projectId?: string;
  readonly data: Readonly<Record<string, Writable | undefined>>;
}

/** States that take more room than this, in characters, are left out of an event: the dashboard fetches them. */
const MAX_STATES_LENGTH = 64 * 1024;

/** The event as bytes of the stream. */
function encodeEvent({ name, data }: DashboardEvent): Uint8Array {
  return encoder.encode(event(name, writeJson(data)));
}

/** The first event on every stream: the row of the log after which it continues, and the node. */
export function helloEvent(seq: number, node: string): DashboardEvent {
  return { name: 'hello', data: { seq, node } };
}

/** A row of the change log as an event: never a secret, not even its digest. */
export function changeEvent(row: LogRow, place: PlaceNames): DashboardEvent {
  const { seq, kind, revision } = row;
  const actor = row.actor === '' || isPrivate(row) ? {} : { actor: row.actor };
  return {
    name: 'change',
    ...defined({ project: place.project, projectId: row.projectId === '' ? undefined : row.projectId }),
    data: { seq, kind, ...place, revision, ...actor, at: isoTime(row.at), ...details(row) },
  };
}

/** How many streams of all nodes have seen a change. Each event supersedes the one before. */
export function deliveryEvent(seq: number, place: PlaceWithId, totals: DeliveryTotals): DashboardEvent {
  const { projectId, ...names } = place;
  return {
    name: 'delivery',
    ...defined({ project: names.project, projectId }),
    data: { seq, ...names, ...totals },
  };
}

/** Actions that can take rights away from an open stream. */
const LOSSES = new Set([
  'operator.changed',
  'operator.linked',
  'operator.removed',
  'operator.password_changed',
  'session.ended',
  'session.refused',
  'token.revoked',
]);

/** Whether someone may have lost rights with this row. */
export function mayEndRights(row: LogRow): boolean {
  return row.kind === 'project.deleted' || recordActions(row).some((action) => LOSSES.has(action));
}

/** Whether a row is only about people and credentials: all dashboards get the event, but only administrators may read the actor. */
function isPrivate(row: LogRow): boolean {
  return row.kind === 'records.changed' ? recordActions(row).every(isAboutPeople) : isAboutPeople(row.kind);
}

function details(row: LogRow): Readonly<Record<string, Writable>> {
  if (row.kind === 'records.changed') return { actions: recordActions(row) };
  if (row.kind !== 'flags.changed') return {};
  const payload: ChangePayload['flags.changed'] = JSON.parse(row.payload);
  const length = payload.reduce((sum, [key, state]) => sum + key.length + (state?.length ?? 0), 0);
  return length > MAX_STATES_LENGTH ? {} : { changes: payload.map(changeOf) };
}

/** A damaged state is absent for dashboards, as it is for readers. */
function changeOf([key, state]: ChangePayload['flags.changed'][number]): Writable {
  const text = state === null ? undefined : servedState(state);
  return { key, state: text === undefined ? null : new RawJson(text) };
}

/** A project and an environment, by name; both are absent for what belongs to no project. */
export interface PlaceNames {
  readonly project?: string;
  readonly environment?: string;
}

/** A place with the id of its project. */
export interface PlaceWithId extends PlaceNames {
  readonly projectId?: string;
}

/**
 * The names behind the ids of the change log. The catalog no longer has a deleted project or environment when its row
 * is sent to dashboards; this class keeps the name until then.
 */
export class Names {
  readonly #projects = new Map<string, string>();
  readonly #environments = new Map<string, { readonly projectId: string; readonly name: string }>();

  /** Replaces all names with those of the catalog. */
  load(catalog: ServedPlaces): void {
    this.#projects.clear();
    this.#environments.clear();
    for (const [name, id] of catalog.projects()) this.#projects.set(id, name);
    for (const { id, projectId, name } of catalog.environments())
      this.#environments.set(id, { projectId, name });
  }

  /** Adds the name in a row. */
  learn(row: LogRow): void {
    if (row.kind === 'project.created') {
      const { name }: ChangePayload['project.created'] = JSON.parse(row.payload);
      this.#projects.set(row.projectId, name);
    } else if (row.kind === 'environment.created' && row.environmentId !== undefined) {
      const { name }: ChangePayload['environment.created'] = JSON.parse(row.payload);
      this.#environments.set(row.environmentId, { projectId: row.projectId, name });
    }
  }

  /** Removes the names that a row has deleted. */
  forget(row: LogRow): void {
    if (row.kind === 'environment.deleted') this.#environments.delete(row.environmentId ?? '');
    if (row.kind !== 'project.deleted') return;
    this.#projects.delete(row.projectId);
    for (const [id, { projectId }] of this.#environments)
      if (projectId === row.projectId) this.#environments.delete(id);
  }

  /** The place of a project and perhaps an environment, by their ids. */
  place(projectId: string, environmentId?: string): PlaceNames {
    return defined({
      project: this.#projects.get(projectId),
      environment: this.#environments.get(environmentId ?? '')?.name,
    });
  }

  /** The place of an environment by its id alone; empty when it does not exist. */
  placeOf(environmentId: string): PlaceWithId {
    const known = this.#environments.get(environmentId);
    if (known === undefined) return {};
    return { ...this.place(known.projectId, environmentId), projectId: known.projectId };
  }
}
