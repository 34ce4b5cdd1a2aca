import { within } from '@halyard/testing';
import type { ChangeKind, LogRow } from '../../domain/change-log.ts';
import {
  type DeliveryReceipt,
  type DeliveryStore,
  PRESENCE_MS,
  type StreamPresence,
} from '../../domain/delivery.ts';
import { Catalog } from '../../evaluation/catalog/catalog.ts';
import { Activity } from './activity.ts';

/** A node's activity over a real catalog; the store is the test's, with the receipts of other nodes. */
export class TestNode {
  readonly catalog = new Catalog({
    changed: () => {},
    environmentGone: () => {},
    keyGone: () => {},
    malformed: () => {},
  });
  readonly hub = { size: 0, turnover: 0, streamsByKey: () => new Map<string, Map<string, number>>() };
  readonly written = {
    receipts: [] as DeliveryReceipt[],
    presence: [] as StreamPresence[],
    withdrawn: [] as string[],
  };
  readonly activity: Activity;
  /** How often the readers of environment streams were checked. */
  rechecks = 0;
  #seq = 0;

  constructor() {
    const store: DeliveryStore = {
      saveReceipts: async (receipts) => void this.written.receipts.push(...receipts),
      receipts: async (from, to) => this.written.receipts.filter(({ seq }) => seq >= from && seq <= to),
      savePresence: async (nodes, seenAt) => {
        const others = this.written.presence.filter((row) => nodes.every(({ node }) => row.node !== node));
        const rows = nodes.flatMap(({ node, streams }) =>
          streams.map((count) => ({ ...count, node, seenAt })),
        );
        this.written.presence = [...others, ...rows];
      },
      presence: async (now) => this.written.presence.filter(({ seenAt }) => seenAt >= now - PRESENCE_MS),
      removePresence: async (node) => void this.written.withdrawn.push(node),
      prune: async () => {},
      delivery: async (asked) => {
        const receipts = this.written.receipts.filter(({ seq }) => seq === asked);
        return { seq: asked, project: '', environment: '', revision: 1, committedAt: 0, receipts };
      },
      deliveries: () => Promise.reject(new Error('not used here')),
    };
    const { catalog, hub } = this;
    const recheckStreams = () => void this.rechecks++;
    this.activity = new Activity({ node: 'here', catalog, hub, store, onDropped: () => {}, recheckStreams });
    this.activity.live(0);
  }

  /** Applies one row, as the follower does. */
  apply(kind: ChangeKind, payload: unknown, rest: Partial<LogRow> = {}): LogRow {
    const seq = ++this.#seq;
    const row = {
      seq,
      changeId: `c${seq}`,
      kind,
      projectId: 'p1',
      payload: JSON.stringify(payload),
      actor: 'token:ci',
      at: 1000,
      ...rest,
    };
    this.catalog.apply(row);
    this.activity.applied(row);
    return row;
  }

  /** Creates a project of that name with a production environment; returns the environment's id. */
  addProject(name: string): string {
    const projectId = `id-${name}`;
    this.apply('project.created', { name }, { projectId });
    const environmentId = `production-of-${name}`;
    this.apply('environment.created', { name: 'production', revision: 0 }, { projectId, environmentId });
    return environmentId;
  }

  flip(environmentId: string, states: readonly (readonly [string, string | null])[]): LogRow {
    const environment = [...this.catalog.environments()].find(({ id }) => id === environmentId);
    const projectId = environment?.projectId ?? '';
    const revision = (environment?.revision ?? 0) + 1;
    return this.apply('flags.changed', states, { projectId, environmentId, revision });
  }

  watch(project?: string, stillValid = async () => true): Screen {
    return new Screen(this.activity.open({ stillValid, ...(project === undefined ? {} : { project }) }));
  }

  /** As {@link watch}, for someone with roles in these projects alone. */
  watchOnly(visible: readonly string[], stillValid = async () => true): Screen {
    return new Screen(this.activity.open({ stillValid, visible }));
  }
}

/** Reads events one by one. */
export class Screen {
  readonly #reader;

  constructor(stream: ReadableStream<Uint8Array>) {
    this.#reader = stream.getReader();
  }

  /** The next event: its name and its data; `undefined` at the end. */
  async next(): Promise<readonly [name: string, data: Record<string, unknown>] | undefined> {
    const { value } = await within('the screen gets its next event', this.#reader.read());
    if (value === undefined) return undefined;
    const [, name = '', data = ''] =
      /^event: (\w+)\ndata: (.*)\n\n$/.exec(new TextDecoder().decode(value)) ?? [];
    return [name, JSON.parse(data)];
  }

  /** The next event of a name, whatever comes before it. */
  async nextOf(name: string): Promise<Record<string, unknown>> {
    for (;;) {
      const event = await this.next();
      if (event === undefined) throw new Error('the stream has ended');
      if (event[0] === name) return event[1];
    }
  }
}
