/** A write as it was committed. */
export interface Committed {
  readonly id: number;
  readonly environmentId: string;
  readonly projectId: string;
  /** The name of the environment. */
  readonly environment: string;
  readonly revision: number;
  /** The whole map after it. */
  readonly flags: Readonly<Record<string, unknown>>;
  readonly at: number;
  readonly seq: number;
  /** When it was lost with a part of the history, if it was. */
  lostAt?: number;
}

/** When something was granted and when it ended, in virtual milliseconds. */
export interface Term {
  from: number;
  until: number;
}

/** When a key was valid, and what it opens. */
export interface KeyTerm extends Term {
  readonly projectId: string;
  /** When it expires, by a clock that is right. */
  readonly expiresAt: number;
  /** The ids of the environments that there were when it was created. */
  readonly opens: ReadonlySet<string>;
}

/** Everything that was committed, also what was lost later. The checks compare what readers see with it. */
export class Truth {
  readonly writes = new Map<number, Committed>();
  /** The writes of each environment by its id, in order. */
  readonly byEnvironment = new Map<string, Committed[]>();
  /** When each key was valid, by its text. */
  readonly keys = new Map<string, KeyTerm>();
  /** When each environment existed, by its id. */
  readonly environments = new Map<string, Term & { readonly projectId: string; readonly name: string }>();

  /** What takes back the changes of keys, in order. */
  readonly #undo: { readonly seq: number; readonly run: (at: number) => void }[] = [];

  add(write: Committed): void {
    this.writes.set(write.id, write);
    const list = this.byEnvironment.get(write.environmentId) ?? [];
    list.push(write);
    this.byEnvironment.set(write.environmentId, list);
  }

  /** The last write of an environment that was committed before `before` and is not lost at `at`. */
  newest(environmentId: string, before: number, at = before): Committed | undefined {
    return this.byEnvironment
      .get(environmentId)
      ?.findLast((write) => write.at < before && (write.lostAt ?? Number.POSITIVE_INFINITY) > at);
  }

  /** The key is valid from then on. Its id is its text. */
  keyCreated(id: string, seq: number, facts: Omit<KeyTerm, 'until'>): void {
    const term: KeyTerm = { ...facts, until: Number.POSITIVE_INFINITY };
    this.keys.set(id, term);
    this.#undo.push({
      seq,
      run: (cutAt) => {
        term.until = Math.min(term.until, cutAt);
      },
    });
  }

  /** The key has ended. */
  keyRevoked(id: string, seq: number, at: number): void {
    const term = this.keys.get(id);
    if (term === undefined) return;
    term.until = at;
    this.#undo.push({
      seq,
      run: () => {
        // Nodes that knew it as revoked may refuse it until they have the shorter history.
        term.from = Number.POSITIVE_INFINITY;
        term.until = Number.POSITIVE_INFINITY;
      },
    });
  }

  /** Its keys and environments have ended. */
  projectDeleted(id: string, seq: number, at: number): void {
    for (const [keyId, { projectId, until }] of this.keys)
      if (projectId === id && until === Number.POSITIVE_INFINITY) this.keyRevoked(keyId, seq, at);
    for (const environment of this.environments.values())
      if (environment.projectId === id) environment.until = Math.min(environment.until, at);
  }

  /** Notes that the history was cut off after row `seq`. */
  cut(seq: number, at: number): void {
    for (const write of this.writes.values())
      if (write.seq > seq && write.lostAt === undefined) write.lostAt = at;
    while ((this.#undo.at(-1)?.seq ?? 0) > seq) this.#undo.pop()?.run(at);
  }
}
