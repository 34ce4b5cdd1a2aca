import { defined } from '@halyard/protocol';
import type { Approval } from '../../domain/approval.ts';
import type { Actor } from '../../domain/audit.ts';
import { quote, ServiceError } from '../../domain/errors.ts';
import type { Environment } from '../../domain/project.ts';
import { administers } from '../../management/rights.ts';
import type { Tx } from '../../storage/tx.ts';
import { requirePersonBehind } from '../access-tokens/creators.ts';
import { effectsOf, onlyTurnsOff } from './effects.ts';
import type { Effect, ProposedRequest } from './proposal.ts';
import { insertProposal } from './proposal-table.ts';

/** An emergency: who, what, and why. */
export interface EmergencyCall {
  readonly id: string;
  readonly actor: Actor;
  readonly reason: string;
  readonly operation: string;
  readonly request: ProposedRequest;
}

/** What takes a guard away is no emergency: two people have to agree on it. */
const NEVER = new Set(['environment.updated', 'environment.deleted', 'project.deleted']);

/**
 * Lets a change be made at once, without approval, and keeps it as a proposal that another person has to acknowledge. Administrators
 * may do that; in environments that allow it, every editor may turn flags off.
 */
export class Emergency implements Approval {
  readonly isConfirmed = false;
  readonly #call: EmergencyCall;
  readonly #environments = new Map<string, Environment>();

  constructor(call: EmergencyCall) {
    this.#call = call;
  }

  covers(environment: Environment): void {
    this.#environments.set(environment.id, environment);
  }

  async finish(tx: Tx): Promise<void> {
    const effects = effectsOf(tx.journal);
    if (this.#environments.size === 0 || effects.length === 0) return;
    const { id, actor, reason, operation, request } = this.#call;
    const environments = [...this.#environments.values()];
    for (const environment of environments) requireEmergency(actor, environment, effects);
    const person = await requirePersonBehind(tx, actor);

    const at = tx.now();
    const required = Math.max(...environments.map(({ approvals }) => approvals));
    const made = {
      id,
      projectId: environments[0]?.projectId ?? '',
      environments: [...this.#environments.keys()],
      operation,
      request,
      effects,
      author: actor.name,
      ...defined({ person, note: reason }),
      required,
      hold: false,
      approvals: [],
      status: 'emergency',
      createdAt: at,
      expiresAt: at,
    } as const;
    await insertProposal(tx, made, 'proposal.emergency');
  }
}

function requireEmergency(actor: Actor, environment: Environment, effects: readonly Effect[]): void {
  const { name, projectId, emergencyOff } = environment;
  if (effects.some(({ action }) => NEVER.has(action))) {
    throw new ServiceError(
      'approval_required',
      `What guards ${quote(name)} is changed by two people, also in an emergency.`,
    );
  }
  if (administers(actor, [projectId])) return;
  if (emergencyOff && onlyTurnsOff(effects)) return;
  const may = emergencyOff ? 'Others may turn flags off.' : '';
  throw new ServiceError(
    'forbidden',
    `Only an administrator may change ${quote(name)} without approval, in an emergency. ${may}`.trim(),
  );
}
