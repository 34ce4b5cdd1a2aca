import { digestOf } from '../packages/server/src/domain/secret.ts';
import type { Chance } from './chance.ts';
import type { Database } from './database.ts';
import { relayRecord, type Token } from './fleet.ts';
import type { Kernel } from './kernel.ts';
import type { Layout } from './layout.ts';

/** An environment that is there for the whole history. */
export interface LastingEnvironment {
  readonly id: string;
  readonly projectId: string;
  readonly name: string;
}

/** Two projects have an environment of the same name. */
export const LASTING: readonly LastingEnvironment[] = [
  { id: 'e0', projectId: 'p1', name: 'production' },
  { id: 'e1', projectId: 'p1', name: 'staging' },
  { id: 'e2', projectId: 'p2', name: 'production' },
];

/** The names of the environment and of the project that come and go. */
const [PASSING, PASSING_PROJECT] = ['preview', 'passing'] as const;

/** What operators have and do: projects, environments, keys, tokens and changes of flags. */
export class Operators {
  readonly tokens: Token[] = [
    { text: 'whole' },
    { text: 'production', environments: ['production'] },
    { text: 'first', projects: ['p1'] },
  ];
  readonly #kernel: Kernel;
  readonly #chance: Chance;
  readonly #database: Database;
  readonly #layout: Layout;
  #writes = 0;
  #keys = 0;
  #passing = 0;
  #projects = 0;

  constructor(kernel: Kernel, chance: Chance, database: Database, layout: Layout) {
    this.#kernel = kernel;
    this.#chance = chance;
    this.#database = database;
    this.#layout = layout;
  }

  /** Fills the database with what is never lost. */
  populate(): void {
    const database = this.#database;
    for (const [id, name] of [
      ['p1', 'shop'],
      ['p2', 'other'],
    ] as const)
      database.createProject(id, name);
    for (const { id, projectId, name } of LASTING) {
      database.createEnvironment(id, projectId, name);
      database.write(id, ++this.#writes);
    }
    for (const token of this.tokens) database.createRelay(relayRecord(token));
    this.createKey('p1');
    this.createKey('p1');
    this.createKey('p2');
    database.keepWhatIs();
  }

  /** The first key of a project: it is never revoked. */
  lastingKeyOf(projectId: string): string {
    return projectId === 'p1' ? 'proj_live_0' : 'proj_live_2';
  }

  /** Creates a key of the environments of a project that there are. */
  createKey(projectId: string, lifeMs?: number): void {
    if (!this.#database.isUp) return;
    const text = `proj_live_${this.#keys++}`;
    this.#database.createKey(text, digestOf(text), projectId, lifeMs);
  }

  /** Makes a token that opens all. A relay that has it can do nothing without it, so it is never lost. */
  createToken(): Token {
    const token = { text: `whole-${this.tokens.length}` };
    this.tokens.push(token);
    this.#database.createRelay(relayRecord(token));
    this.#database.keepWhatIs();
    return token;
  }

  /** Creates the environment that comes and goes, with a key, or deletes it. It is never lost. */
  switchEnvironment(): void {
    const database = this.#database;
    if (!database.isUp) return;
    const id = `x${this.#passing}`;
    if (database.environment(id) !== undefined) database.deleteEnvironment(id);
    else {
      const next = `x${++this.#passing}`;
      database.createEnvironment(next, 'p1', PASSING);
      database.write(next, ++this.#writes);
      this.createKey('p1');
    }
    database.keepWhatIs();
  }

  /** The same with a project. */
  switchProject(): void {
    const database = this.#database;
    if (!database.isUp) return;
    const id = `q${this.#projects}`;
    if (database.copy.tables.projects.has(id)) database.deleteProject(id);
    else {
      const next = `q${++this.#projects}`;
      database.createProject(next, PASSING_PROJECT);
      database.createEnvironment(`${next}e`, next, 'production');
      database.write(`${next}e`, ++this.#writes);
      this.createKey(next);
    }
    database.keepWhatIs();
  }

  /** Changes flags, again and again, until `isOver`. */
  writeAgain(isOver: () => boolean): void {
    if (isOver()) return;
    const chance = this.#chance;
    const pauseMs = chance.happens(0.1) ? chance.between(1_000, 5_000) : chance.between(5, 400);
    this.#kernel.after(pauseMs, () => this.writeAgain(isOver));
    const count = chance.happens(0.05) ? chance.whole(5, 60) : 1;
    for (let index = 0; index < count; index++) {
      const environments = [...this.#database.environments()];
      this.#write(chance.pick(environments).id);
    }
  }

  /** Some writes are made through a node, which is handed their rows when it learns that they are committed. */
  #write(environmentId: string): void {
    const { places, databaseOwner } = this.#layout;
    const database = this.#database;
    const place = this.#chance.happens(0.5) ? this.#chance.pick(places) : undefined;
    if (place?.source.kind !== 'database' || !place.owner.isAlive) {
      if (database.isUp) database.write(environmentId, ++this.#writes);
      return;
    }

    const { link } = place.source;
    const { owner } = place;
    link.lane()(databaseOwner, () => {
      const committed = database.isUp && database.write(environmentId, ++this.#writes);
      if (!committed) return;
      link.lane()(owner, () => {
        for (const listener of database.listeners) if (listener.owner === owner) listener.handOver(committed);
      });
    });
  }
}
