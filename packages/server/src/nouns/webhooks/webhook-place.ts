import type { Actor } from '../../domain/audit.ts';
import { quote, type ServiceError } from '../../domain/errors.ts';
import type { Queryable } from '../../storage/database.ts';
import type { Tx } from '../../storage/tx.ts';
import { findProject, recordNotFound } from '../lookup.ts';
import { lockProject } from '../projects/project-table.ts';
import type { Webhook, WebhookTarget } from './webhook.ts';
import { lockWebhook, readTarget, readWebhook } from './webhook-table.ts';

/** A webhook by its name. */
export interface WebhookPlace {
  /** Absent for a webhook of the installation. */
  readonly project?: string;
  readonly webhook: string;
}

/** A webhook by its name. `project_not_found`, `not_found`. */
export async function findWebhook(
  db: Queryable,
  actor: Actor,
  { project, webhook }: WebhookPlace,
): Promise<Webhook> {
  const found = await readWebhook(db, await findPlace(db, actor, project), webhook);
  if (found !== undefined) return found;
  throw webhookNotFound(webhook);
}

/** The id of the project; empty for the installation. */
export async function findPlace(db: Queryable, actor: Actor, project: string | undefined): Promise<string> {
  return project === undefined ? '' : (await findProject(db, actor, project)).id;
}

/** Locks what a change of a webhook must not meet: others in its project, or the webhook itself. */
export async function lockPlace(tx: Tx, { id, projectId }: Pick<Webhook, 'id' | 'projectId'>): Promise<void> {
  await (projectId === '' ? lockWebhook(tx, id) : lockProject(tx, projectId));
}

/** As {@link findWebhook}, with its secrets. */
export async function findTarget(db: Queryable, actor: Actor, place: WebhookPlace): Promise<WebhookTarget> {
  const { id, name } = await findWebhook(db, actor, place);
  const target = await readTarget(db, id);
  if (target !== undefined) return target;
  throw webhookNotFound(name);
}

/** The webhook does not exist. */
export function webhookNotFound(name: string): ServiceError {
  return recordNotFound(
    `The webhook ${quote(name)} does not exist: list the webhooks of its place to find it.`,
  );
}
