import type { FlagsClient } from '@halyard/client';
import { createClientWithFallback, createPublishedClient } from '@halyard/client/published';
import { Management, until } from '@halyard/testing';
import type { Final } from './checker/history.ts';
import { now } from './clock.ts';
import { managersOf, type PublishedStorage } from './fleet-node.ts';
import type { Place, World } from './world.ts';

/** How often readers and the files are looked at, in milliseconds. */
const LOOK_MS = 200;

/** What a publishing node may not have known yet when it confirmed its files, in seconds: it is current (S14.1). */
const PROOF_SECONDS = 3;

/** Publishes every environment of the world, where its nodes do, and waits for the first files. */
export async function publishAll({ fleet, places, prepare }: World): Promise<void> {
  const { storage } = fleet;
  const [node] = managersOf(fleet);
  if (storage === undefined || node === undefined) return;

  const management = new Management({ url: node.url, adminToken: fleet.adminToken });
  for (const { project, environment } of places) {
    const path = `/api/projects/${project}/environments/${environment}/publication`;
    await prepare('the publication', () => management.request('PUT', path, { body: { withoutKey: true } }));
  }
  await until('every environment is published', () =>
    places.every(({ name }) => storage.server.json(`${name}/pointer.json`) !== undefined),
  );
}

/** An application that reads a published environment with the client. What it sees, and says of its age, is recorded. */
export class PublishedReader {
  readonly name: string;
  readonly place: Place;
  readonly #world: World;
  readonly #client: FlagsClient & { readonly ageMs?: number | undefined };

  /** `node`: the address of a node that it follows, with the files as its fallback. */
  constructor(name: string, place: Place, { link }: PublishedStorage, world: World, node?: string) {
    this.name = name;
    this.place = place;
    this.#world = world;
    const published = `http://127.0.0.1:${link.port}/bucket/flags/${place.name}`;
    const settings = { requestTimeoutMs: 2_000, logger: false } as const;
    this.#client =
      node === undefined
        ? createPublishedClient({ ...settings, baseUrl: published, pollIntervalMs: 500 })
        : createClientWithFallback({
            ...settings,
            apiKey: place.key,
            environment: place.environment,
            baseUrl: node,
            pollIntervalMs: 5_000,
            published,
          });
  }

  /** The revision that the client has. */
  get reached(): number | undefined {
    return this.#client.revision;
  }

  /** Looks until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    await this.#client.ready();
    while (!signal.aborted) {
      // A client of a node says nothing of its age.
      const { revision, ageMs = Number.NaN } = this.#client;
      const content = JSON.stringify(this.#client.all());
      if (revision !== undefined)
        recordLook(this.#world, this.place, this.name, { revision, content, ageMs });
      await Bun.sleep(LOOK_MS);
    }
  }

  close(): void {
    void this.#client.close();
  }
}

/** Looks at the files themselves until `signal` aborts: what a pointer names must be there, and it never goes back. */
export async function watchFiles(world: World, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    for (const place of world.places) {
      const files = readFiles(world, place);
      if (files === undefined) continue;
      const { revision, content, object, ageMs } = files;
      if (content === undefined) world.recorder.missingObject({ environment: place.name, at: now(), object });
      else recordLook(world, place, 'the storage', { revision, content, ageMs });
    }
    await Bun.sleep(LOOK_MS / 2);
  }
}

/** What is published in the end. */
export function readPublished(world: World, place: Place): Pick<Final, 'revision' | 'content'> {
  const { revision, content } = readFiles(world, place) ?? {};
  if (revision === undefined || content === undefined) throw new Error('it is not published');
  return { revision, content };
}

/** Reads a pointer and its object at one moment, past the network. */
function readFiles({ fleet: { storage } }: World, { name }: Place) {
  const pointer = storage?.server.json(`${name}/pointer.json`);
  if (pointer === undefined) return undefined;
  const { revision, object, checkedAt } = pointer;
  const file = storage?.server.json(`${name}/${object}`);
  return {
    revision: Number(revision),
    object: String(object),
    content: file === undefined ? undefined : JSON.stringify(file.flags),
    ageMs: Date.now() - Date.parse(checkedAt),
  };
}

/** Files never call themselves current: they say how old they are. */
function recordLook(
  { recorder }: World,
  place: Place,
  node: string,
  look: { readonly revision: number; readonly content: string; readonly ageMs: number },
): void {
  const at = now();
  recorder.read({
    kind: 'read',
    node,
    environment: place.name,
    key: `${place.project}-key`,
    requestedAt: at,
    answeredAt: at,
    status: 200,
    revision: look.revision,
    content: look.content,
    freshness: 'stale',
    ageSeconds: Math.ceil(look.ageMs / 1_000) + PROOF_SECONDS,
  });
}
