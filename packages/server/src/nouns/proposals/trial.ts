import type { Approval } from '../../domain/approval.ts';
import type { Environment } from '../../domain/project.ts';
import type { Tx } from '../../storage/tx.ts';
import { effectsOf } from './effects.ts';
import type { Effect } from './proposal.ts';

/** Ends the transaction of an attempt: nothing is written. */
export class Tried extends Error {
  override readonly name = 'Tried';
  /** What the operation would have done. */
  readonly effects: readonly Effect[];

  constructor(effects: readonly Effect[]) {
    super('the operation was tried');
    this.effects = effects;
  }
}

/** Runs an operation as far as its commit, and finds out what it would do. */
export class Trial implements Approval {
  readonly isConfirmed = true;
  /** The environments that require approvals, by id. */
  readonly environments = new Map<string, Environment>();

  covers(environment: Environment): void {
    this.environments.set(environment.id, environment);
  }

  async finish(tx: Tx): Promise<void> {
    throw new Tried(effectsOf(tx.journal));
  }
}
