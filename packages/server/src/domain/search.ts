/** What can be searched for, in the order in which equally good finds are given. */
export const SEARCH_KINDS = ['project', 'environment', 'flag', 'key'] as const;

/** What was found. */
export interface SearchHit {
  readonly kind: (typeof SEARCH_KINDS)[number];
  /** Name of its project, or its own. */
  readonly project: string;
  /** What it is called: a name, or a flag's key. */
  readonly name: string;
  /** A project key's id. */
  readonly id?: string;
  /** A flag's description. */
  readonly description?: string;
  /** Since when a flag is archived, in epoch milliseconds. */
  readonly archivedAt?: number;
}
