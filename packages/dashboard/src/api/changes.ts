import { api, request } from './request.ts';
import type { Json } from './types.ts';

/** One thing that a revert puts back. */
export interface RevertDifference {
  /** With `key` a state; alone what the environment looks like. */
  readonly environment?: string;
  /** Alone the flag itself. */
  readonly key?: string;
  readonly before?: Json;
  readonly after?: Json;
}

/** What a revert did, or would do. */
export interface Reverted {
  readonly seq?: number;
  readonly differences: readonly RevertDifference[];
}

/** How to revert. */
export interface RevertOptions {
  /** Only say what would be done. */
  readonly dryRun?: boolean;
  /** Also where something has changed since. */
  readonly force?: boolean;
  /** The protected environments that the person has confirmed this for. */
  readonly confirmed?: readonly string[];
  readonly note?: string;
}

/** Puts back what a change changed, as a new change. Rejects with `revision_conflict` or `not_revertible`. */
export function revertChange(seq: number, options: RevertOptions = {}): Promise<Reverted> {
  const { dryRun = false, force = false, confirmed, note } = options;
  const path = `${api`changes/${seq}/revert`}${dryRun ? '?dryRun=true' : ''}`;
  return request('POST', path, { body: { force }, confirmed, note });
}
