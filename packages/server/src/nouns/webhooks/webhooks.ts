import { defined } from '@halyard/protocol';
import type { Actor } from '../../domain/audit.ts';
import { HOUR_MS } from '../../domain/clock.ts';
import { environmentNotFound, invalid, quote } from '../../domain/errors.ts';
import type { ManagementContext } from '../../management/context.ts';
import { checkName } from '../../management/rules.ts';
import { type Written, writeDone, writeRecord } from '../../management/write.ts';
import type { Queryable } from '../../storage/database.ts';
import type { Tx } from '../../storage/tx.ts';
import { readEnvironments } from '../environments/environment-table.ts';
import { readChangedPlaces } from '../history/changed-query.ts';
import { recordNotFound } from '../lookup.ts';
import { lockProject } from '../projects/project-table.ts';
import { readHealth } from './health-query.ts';
import { readEndOfLog, readNextSeq } from './message-query.ts';
import { formatWebhookSecret, SECRET_BYTES } from './signing.ts';
import type { Webhook, WebhookHealth, WebhookSettings, WebhookUpdate } from './webhook.ts';
import { findPlace, findWebhook, lockPlace, type WebhookPlace } from './webhook-place.ts';
import {
  insertWebhook,
  lockWebhook,
  readWebhooks,
  removeWebhook,
  storeSecret,
  storeWebhook,
} from './webhook-table.ts';

/** Most webhooks of one project. */
const MAX_WEBHOOKS = 20;

/** Longest address, in characters. */
const MAX_URL = 2000;

/** How long the secret before the current one stays valid, in hours. */
export const ROTATION_HOURS = { most: 168, default: 24 } as const;

/** A webhook with its new secret, which is shown only once. */
export type WebhookWithSecret = Written<WebhookHealth> & { readonly secret: string };

/** The webhooks of a project or of the installation, by name. `project_not_found`. */
export function listWebhooks(
  context: ManagementContext,
  actor: Actor,
  { project }: Pick<WebhookPlace, 'project'>,
): Promise<readonly WebhookHealth[]> {
  return context.store.read(async (db) => {
    return healthOf(context, db, await readWebhooks(db, await findPlace(db, actor, project)));
  });
}

/** One webhook. `project_not_found`, `not_found`. */
export function getWebhook(
  context: ManagementContext,
  actor: Actor,
  place: WebhookPlace,
): Promise<WebhookHealth> {
  return context.store.read(async (db) => withHealth(context, db, await findWebhook(db, actor, place)));
}

/**
 * Creates a webhook, which gets the changes from its own creation on. `invalid_argument`, `project_not_found`,
 * `environment_not_found`, `already_exists`.
 */
export function createWebhook(
  context: ManagementContext,
  actor: Actor,
  input: WebhookSettings & { readonly project?: string; readonly name: string },
): Promise<WebhookWithSecret> {
  const { name } = input;
  checkName('webhook', name);
  const settings = checkSettings(context, input);

  return writeRecord(context, actor, async (tx) => {
    const projectId = await findPlace(tx, actor, input.project);
    const { record, secret } = await addWebhook(context, tx, { projectId, name, ...settings });
    return { ...(await withHealth(context, tx, record)), secret };
  });
}

/** Inserts a webhook whose settings were checked; without a project, one of the installation. `invalid_argument`, `environment_not_found`, `already_exists`. */
export async function addWebhook(
  context: ManagementContext,
  tx: Tx,
  { projectId, name, ...settings }: WebhookSettings & Pick<Webhook, 'projectId' | 'name'>,
): Promise<{ readonly record: Webhook; readonly secret: string }> {
  // They are counted: two nodes must not both add the last one. The installation has no row, so its lock is the end of the log.
  await (projectId === '' ? tx.lockPeople() : lockProject(tx, projectId));
  const others = await readWebhooks(tx, projectId);
  if (others.length >= MAX_WEBHOOKS) {
    throw invalid(
      `The ${projectId === '' ? 'installation' : 'project'} has ${MAX_WEBHOOKS} webhooks, which is the most: delete one first.`,
    );
  }
  await checkScope(tx, projectId, settings);

  const secret = newSecret(context);
  const webhook = { id: context.newId(), projectId, name, createdAt: context.now(), ...settings };
  return { record: await insertWebhook(tx, webhook, secret), secret };
}

/** Writes settings that were checked. An environment that was deleted may stay. `environment_not_found`. */
export async function setWebhook(
  tx: Tx,
  webhook: Webhook,
  update: WebhookSettings & WebhookUpdate,
): Promise<Webhook> {
  const added = update.environments.filter((name) => !webhook.environments.includes(name));
  await checkScope(tx, webhook.projectId, { ...update, environments: added });
  return storeWebhook(tx, webhook, update);
}

/** What to change about a webhook. */
export interface WebhookChange extends Partial<WebhookSettings> {
  /** `active` resumes it, also after it was disabled. */
  readonly status?: 'active' | 'paused';
  /** Whether changes that wait are skipped. */
  readonly skipPending?: boolean;
}

/** Changes, pauses or resumes a webhook. `invalid_argument`, `project_not_found`, `environment_not_found`, `not_found`. */
export function updateWebhook(
  context: ManagementContext,
  actor: Actor,
  { skipPending = false, ...input }: WebhookPlace & WebhookChange,
): Promise<Written<WebhookHealth>> {
  return writeRecord(context, actor, async (tx) => {
    // Locked, so that a concurrent change is not lost.
    await lockPlace(tx, await findWebhook(tx, actor, input));
    const webhook = await findWebhook(tx, actor, input);

    const { url, format, environments, events } = input;
    const given = defined({ url, format, environments, events });
    const settings = checkSettings(context, { ...webhook, ...given });
    const stored = await setWebhook(tx, webhook, {
      ...settings,
      ...defined({ status: input.status }),
      ...(skipPending ? { cursor: await readEndOfLog(tx) } : {}),
    });
    return withHealth(context, tx, stored);
  });
}

/**
 * Skips the change that a webhook delivers next. The changes behind it are tried at once unless the webhook is paused or disabled.
 * Same errors as {@link getWebhook}; `not_found` if `seq` is not that change, as after its delivery. (Spec: S22.1)
 */
export function skipWebhookChange(
  context: ManagementContext,
  actor: Actor,
  { seq, ...place }: WebhookPlace & { readonly seq: number },
): Promise<Written<WebhookHealth>> {
  return writeRecord(context, actor, async (tx) => {
    const { id, projectId } = await findWebhook(tx, actor, place);
    await lockPlace(tx, { id, projectId });
    // No attempt delivers the change between the look and the skip.
    await lockWebhook(tx, id);

    const webhook = await findWebhook(tx, actor, place);
    if ((await readNextSeq(tx, webhook)) !== seq)
      throw recordNotFound(
        `Change ${seq} is not the next one that the webhook ${quote(place.webhook)} delivers: read its lastFailure again.`,
      );

    return withHealth(context, tx, await storeWebhook(tx, webhook, { cursor: seq }));
  });
}

/**
 * Creates a new secret. Messages are signed with both for `overlapHours`, so that the receiver can change over. Same errors
 * as {@link getWebhook}, and `invalid_argument`.
 */
export function rotateWebhook(
  context: ManagementContext,
  actor: Actor,
  { overlapHours, ...place }: WebhookPlace & { readonly overlapHours: number },
): Promise<WebhookWithSecret> {
  const secret = newSecret(context);
  return writeRecord(context, actor, async (tx) => {
    const webhook = await findWebhook(tx, actor, place);
    const until = context.now() + Math.round(overlapHours * HOUR_MS);
    await storeSecret(tx, webhook, secret, until);
    return { ...(await withHealth(context, tx, { ...webhook, previousSecretUntil: until })), secret };
  });
}

/** Deletes a webhook with its deliveries; what it has not sent is never sent. Same errors as {@link getWebhook}. */
export function deleteWebhook(
  context: ManagementContext,
  actor: Actor,
  place: WebhookPlace,
): Promise<Written<object>> {
  return writeDone(context, actor, async (tx) => removeWebhook(tx, await findWebhook(tx, actor, place)));
}

async function withHealth(
  context: ManagementContext,
  db: Queryable,
  webhook: Webhook,
): Promise<WebhookHealth> {
  const [described] = await healthOf(context, db, [webhook]);
  return described ?? { ...webhook, pendingCount: 0, hours: [] };
}

/** How webhooks are doing, with what the changes were about that fail. */
async function healthOf(
  context: ManagementContext,
  db: Queryable,
  webhooks: readonly Webhook[],
): Promise<readonly WebhookHealth[]> {
  const described = await readHealth(db, webhooks, context.now());
  const failing = described.flatMap(({ lastFailure }) => lastFailure?.seq ?? []);
  const changed = await readChangedPlaces(db, failing, 'operation');

  return described.map(({ lastFailure: failure, ...webhook }) => {
    if (failure === undefined) return webhook;
    return {
      ...webhook,
      lastFailure: { ...failure, ...defined({ changed: changed.get(failure.seq ?? -1) }) },
    };
  });
}

function newSecret(context: ManagementContext): string {
  return formatWebhookSecret(context.randomBytes(SECRET_BYTES));
}

function checkSettings(context: ManagementContext, settings: WebhookSettings): WebhookSettings {
  const { url, format, environments, events } = settings;
  requireAddress(context, url);

  return {
    url: new URL(url).href,
    format,
    environments: [...new Set(environments)].sort(),
    events: [...new Set(events)].sort(),
  };
}

/** Refuses an address that is too long, or to which a node sends nothing. `invalid_argument`. */
export function requireAddress(context: ManagementContext, url: string): void {
  const problem =
    url.length > MAX_URL ? `is longer than ${MAX_URL} characters` : context.problemOfAddress?.(url);
  if (problem !== undefined) throw invalid(`"url" ${problem}.`);
}

/** A webhook of the installation gets everything, so that what it leaves out need not be asked. */
async function checkScope(
  db: Queryable,
  projectId: string,
  { format, environments, events }: WebhookSettings,
): Promise<void> {
  if (projectId !== '') return await checkEnvironments(db, projectId, environments);
  if (format === 'json' && environments.length === 0 && events.length === 0) return;
  throw invalid(
    'A webhook of the installation gets every entry as JSON: leave out "environments", "events" and "format".',
  );
}

async function checkEnvironments(db: Queryable, projectId: string, names: readonly string[]): Promise<void> {
  const known = new Set((await readEnvironments(db, projectId)).map(({ name }) => name));
  for (const name of names) if (!known.has(name)) throw environmentNotFound(name);
}
