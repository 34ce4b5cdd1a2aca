/** The projects and environments that a node serves now. */
export interface ServedPlaces {
  /** The id of the project of that name. */
  projectId(name: string): string | undefined;
  /** Every project: its name and its id. */
  projects(): Iterable<readonly [name: string, id: string]>;
  environments(): Iterable<{ readonly id: string; readonly projectId: string; readonly name: string }>;
}

/** The streams that are open on a node. */
export interface OpenStreams {
  /** How many streams are open. */
  readonly size: number;
  /** How many streams have been opened and closed; while it stays the same, so do the counts. */
  readonly turnover: number;
  /** How many streams are open by environment id and by the key's public id, which is empty without a key. */
  streamsByKey(): ReadonlyMap<string, ReadonlyMap<string, number>>;
}

/** The processes of this machine that serve reads, seen as one: a single process, or several workers. */
export interface ReadSide {
  readonly streams: OpenStreams;
  /** Waits until every process that serves reads has applied row `seq`, with a bound: a writer reads its own write. (Spec: S14.7) */
  waitForApplied(seq: number): Promise<void>;
  /** Whether every process that serves reads has applied row `seq`. */
  hasApplied(seq: number): boolean;
  /** The public ids of the keys that were used since the last call, or hold a stream open; some may come twice. */
  takeUsedKeys(): Promise<Iterable<string>>;
}

/** A person or program that opens a stream without a project key. */
export interface StreamReader {
  readonly request: Request;
  /** Whether the session or token of the request is still valid; the stream ends soon after it is not. */
  readonly stillValid: () => Promise<boolean>;
  /** The only project that it may read, by id; absent: any. */
  readonly projectId?: string | undefined;
}

/** Answers a request with the stream of an environment. Throws `project_not_found`, `environment_not_found`, `internal_error`. */
export type OpenStream = (projectName: string, environmentName: string, reader: StreamReader) => Response;

/** How current this node's catalog is. */
export interface Freshness {
  /** Whether reads may be answered: a snapshot is there and not older than the configured limit. */
  canRead(): boolean;
  /** Whether streams may be opened: every change will be seen, and the node is not stopping. */
  canStream(): boolean;
  /**
   * Whether keys and environments may exist that this node has not heard of yet: it has lost the change log, or started from
   * its last known flags, which may lack the newest.
   */
  mayLackRecords(): boolean;
  /** The problem that an operator must fix before the node is ready; `undefined` where waiting may be enough. */
  trouble(): string | undefined;
  /** Whole seconds since the catalog was last known to be current; `undefined` while it is. */
  staleSeconds(): number | undefined;
}

/** How current this node is, and what a load balancer should send to it. */
export interface Readiness extends Freshness {
  /** Whether it should get reads: it answers them, perhaps with an age, and is not stopping. */
  takesReads(): boolean;
}
