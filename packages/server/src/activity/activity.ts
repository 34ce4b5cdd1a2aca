import type { Catalog } from '../catalog/catalog.ts';
import type { LogRow } from '../domain/change.ts';
import { ServiceError } from '../domain/service-error.ts';
import { EventFeed } from './event-feed.ts';
import { Names } from './names.ts';
import { changeEvent, helloEvent } from './screen-event.ts';

/** What the activity of a node is seen in. */
export interface ActivityParts {
  /** This node's name among its peers; see {@link newNodeName}. */
  readonly node: string;
  readonly catalog: Catalog;
}

/** Whom an event stream is opened for. */
export interface EventsRequest {
  /** Name of the only project that is watched; absent for all. */
  readonly project?: string;
  readonly stillValid: () => Promise<boolean>;
}

/** What happens on this node, told to screens as it happens. */
export class Activity {
  readonly #parts: ActivityParts;
  readonly #names = new Names();
  readonly #feed = new EventFeed();
  #isLive = false;
  #seq = 0;

  constructor(parts: ActivityParts) {
    this.#parts = parts;
  }

  /** How many screens watch. */
  get watchers(): number {
    return this.#feed.size;
  }

  /** The node follows the log, and has applied it as far as `seq`. */
  live(seq: number): void {
    this.#names.load(this.#parts.catalog);
    this.#seq = seq;
    this.#isLive = true;
  }

  /** The node has lost the log: every screen is cut off, so that none takes an old picture for the present. */
  lost(): void {
    this.#isLive = false;
    this.#feed.endAll();
  }

  /** The node has applied a row of the log; its frames are out. */
  applied(row: LogRow): void {
    this.#seq = row.seq;
    this.#names.learn(row);
    if (this.#feed.size > 0) {
      this.#feed.publish(changeEvent(row, this.#names.place(row.projectId, row.environmentId)));
    }
    this.#names.forget(row);
  }

  /**
   * Opens the stream of events for a screen: `hello` first, then every change after the row that it names, once and
   * in order. `project_not_found`; `internal_error` while the node does not follow the log.
   */
  open({ project, stillValid }: EventsRequest): ReadableStream<Uint8Array> {
    if (!this.#isLive) {
      const message = 'This node cannot follow the changes at the moment; try again shortly.';
      throw new ServiceError('internal_error', message, { retryAfterSeconds: 1 });
    }
    if (project !== undefined && this.#parts.catalog.projectId(project) === undefined) {
      const message = 'There is no project of that name: check the name, or create it.';
      throw new ServiceError('project_not_found', message);
    }
    return this.#feed.open({ project, stillValid }, helloEvent(this.#seq, this.#parts.node));
  }

  /** Ends every stream of events. Safe to call twice. */
  close(): void {
    this.#isLive = false;
    this.#feed.close();
  }
}
