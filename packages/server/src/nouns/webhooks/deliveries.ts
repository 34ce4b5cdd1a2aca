import { defined } from '@halyard/protocol';
import type { Actor, ChangedPlace } from '../../domain/audit.ts';
import { quote } from '../../domain/errors.ts';
import type { ManagementContext } from '../../management/context.ts';
import { readOperation } from '../history/audit-query.ts';
import { readChangedPlaces } from '../history/changed-query.ts';
import { recordNotFound } from '../lookup.ts';
import { insertDelivery, readDeliveries } from './delivery-table.ts';
import { readMessage } from './message-query.ts';
import type { WebhookDelivery, WebhookTarget } from './webhook.ts';
import { findTarget, findWebhook, type WebhookPlace, webhookNotFound } from './webhook-place.ts';
import type { Attempt, WebhookContext } from './webhook-sender.ts';

/** An attempt, and what its change was about. */
export type NamedDelivery = WebhookDelivery & { readonly changed?: readonly ChangedPlace[] };

/** The attempts that are kept, newest first. Same errors as {@link getWebhook}. */
export function listDeliveries(
  context: ManagementContext,
  actor: Actor,
  place: WebhookPlace,
): Promise<readonly NamedDelivery[]> {
  return context.store.read(async (db) => {
    const { id } = await findWebhook(db, actor, place);
    const deliveries = await readDeliveries(db, id);

    const seqs = deliveries.flatMap(({ seq }) => (seq === undefined ? [] : [seq]));
    const changed = await readChangedPlaces(db, seqs, 'operation');
    return deliveries.map((delivery) => ({
      ...delivery,
      ...defined({ changed: changed.get(delivery.seq ?? -1) }),
    }));
  });
}

/** Sends a test message at once, whatever the webhook's status. Same errors as {@link getWebhook}, and `rate_limited`. */
export async function testWebhook(
  context: WebhookContext,
  actor: Actor,
  place: WebhookPlace,
): Promise<WebhookDelivery> {
  const target = await context.store.read((db) => findTarget(db, actor, place));
  const messageId = `ping_${context.newId()}`;
  const attempt = await context.sender.manually(() => context.sender.ping(target, messageId));
  return record(context, target, { messageId, trigger: 'test', ...attempt });
}

/**
 * Sends the message of a change again, at once and beside the order of the others. The same errors as
 * {@link testWebhook}; `not_found` for a change that this webhook does not deliver.
 */
export async function replayWebhook(
  context: WebhookContext,
  actor: Actor,
  { seq, ...place }: WebhookPlace & { readonly seq: number },
): Promise<WebhookDelivery> {
  const { target, message } = await context.store.read(async (db) => {
    const found = await findTarget(db, actor, place);
    const operation = await readOperation(db, seq);
    return {
      target: found,
      message: operation && (await readMessage(db, found, operation.seq)),
    };
  });

  if (message === undefined)
    throw recordNotFound(
      `Change ${seq} does not exist, or has nothing that the webhook ${quote(place.webhook)} delivers.`,
    );

  const attempt = await context.sender.manually(() => context.sender.change(target, message));
  const { messageId } = message;
  return record(context, target, { seq: message.seq, messageId, trigger: 'replay', ...attempt });
}

async function record(
  { store }: ManagementContext,
  { id, name }: WebhookTarget,
  { retryAfterMs: _, ...delivery }: Omit<WebhookDelivery, 'number'> & Pick<Attempt, 'retryAfterMs'>,
): Promise<WebhookDelivery> {
  const recorded = await store.unlogged((tx) => insertDelivery(tx, id, delivery));
  if (recorded !== undefined) return recorded;
  throw webhookNotFound(name);
}
