/** One environment of a project: an ordered log of revisions. */
export interface Environment {
  readonly id: string;
  readonly projectId: string;
  /** Unique in its project, immutable. */
  readonly name: string;
  /** Counts committed changes. A deleted and recreated environment goes on counting, so no reader goes back in time. */
  readonly revision: number;
  /** Epoch milliseconds. */
  readonly createdAt: number;
}
