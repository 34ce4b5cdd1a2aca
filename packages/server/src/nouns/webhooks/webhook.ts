import type { WebhookEvents } from '@halyard/protocol';
import type { AuditEntry, ChangedPlace } from '../../domain/audit.ts';

/** The forms of a message: everything as JSON, or one text as chat programs take it. */
export const WEBHOOK_FORMATS = ['json', 'slack'] as const;

/** The form of a webhook's messages. */
export type WebhookFormat = (typeof WEBHOOK_FORMATS)[number];

/** `paused` by a person; `disabled` by the server, after days of failures or the answer 410. */
export const WEBHOOK_STATUSES = ['active', 'paused', 'disabled'] as const;

/** Whether a webhook sends messages. */
export type WebhookStatus = (typeof WEBHOOK_STATUSES)[number];

/** The parts of a webhook that people choose. */
export interface WebhookSettings {
  readonly url: string;
  readonly format: WebhookFormat;
  /** Names of environments; empty for all. A name keeps its meaning when its environment is deleted. */
  readonly environments: readonly string[];
  /** Empty for all. */
  readonly events: readonly WebhookEvents[];
}

/** An address that gets the changes of a project, without its secret. Times in epoch milliseconds. */
export interface Webhook extends WebhookSettings {
  readonly id: string;
  /** Empty: it belongs to the installation, and gets every entry of the audit log. */
  readonly projectId: string;
  /** Unique in its place. */
  readonly name: string;
  readonly status: WebhookStatus;
  /** Why it is disabled. */
  readonly reason?: string;
  /** Its delivery position: every change up to this `seq` has been delivered, skipped or given up. */
  readonly cursor: number;
  /** Messages sent so far, with retries, tests and replays: the number of the newest delivery. */
  readonly deliveries: number;
  /** Changes that were given up after a day of retries. */
  readonly givenUp: number;
  /** Attempts that failed since the last success. */
  readonly failures: number;
  /** Since when attempts fail; later by the time in which no node ran. */
  readonly failingSince?: number;
  readonly nextAttemptAt?: number;
  /** Until when messages are also signed with the secret before the current one. */
  readonly previousSecretUntil?: number;
  readonly createdAt: number;
  /** When the oldest change that it has not sent was made; absent if it has sent all. */
  readonly pendingSince?: number;
}

/** How many attempts of one hour succeeded and failed. */
export interface WebhookHour {
  /** Its beginning, epoch milliseconds. */
  readonly at: number;
  readonly delivered: number;
  readonly failed: number;
}

/** A webhook and how it is doing: what waits, why the last attempt failed, and its attempts of a day. */
export interface WebhookHealth extends Webhook {
  /** Changes that wait, among the next {@link COUNTED_ENTRIES} audit entries. */
  readonly pendingCount: number;
  /** Whether there are more entries than those. */
  readonly pendingMore?: true;
  /** The last attempt for a change, if it failed. */
  readonly lastFailure?: Pick<WebhookDelivery, 'seq' | 'at' | 'status' | 'error' | 'answer'> & {
    /** What its change was about, if that is known. */
    readonly changed?: readonly ChangedPlace[];
  };
  /** The hours of the last day that had attempts, in order. */
  readonly hours: readonly WebhookHour[];
}

/** Audit entries that are looked through to count what waits for a webhook: reads of flags wait for it on SQLite. */
export const COUNTED_ENTRIES = 1_000;

/** Hours whose attempts are counted. */
export const COUNTED_HOURS = 24;

/** A webhook with its secrets, for the node that sends its messages. */
export interface WebhookTarget extends Webhook {
  /** Name of the project; absent for a webhook of the installation. */
  readonly project?: string;
  readonly secret: string;
  readonly previousSecret?: string;
}

/** Why a message was sent. */
export type DeliveryTrigger = 'change' | 'replay' | 'test';

/** The outcome of one attempt. `given-up`: changes that could not be sent for a day. */
export type DeliveryOutcome = 'delivered' | 'failed' | 'given-up';

/** One attempt to send a message. */
export interface WebhookDelivery {
  readonly number: number;
  /** The number of the change; absent for a test. */
  readonly seq?: number;
  readonly messageId: string;
  readonly trigger: DeliveryTrigger;
  readonly outcome: DeliveryOutcome;
  readonly at: number;
  readonly durationMs: number;
  /** The HTTP status of the answer. */
  readonly status?: number;
  /** Why it failed, in a sentence. */
  readonly error?: string;
  /** The beginning of the answer. */
  readonly answer?: string;
}

/** Attempts of one webhook that are kept. */
export const KEPT_DELIVERIES = 100;

/** One audit entry in a message, with the name of its environment. */
export interface WebhookEvent extends Pick<AuditEntry, 'action' | 'target' | 'before' | 'after'> {
  readonly environment?: string;
  readonly id: string;
  readonly project?: string;
  /** Whether `before` and `after` were left out because the message is large. */
  readonly isCut: boolean;
}

/** One change as a webhook delivers it. */
export interface WebhookMessage {
  readonly seq: number;
  readonly messageId: string;
  readonly at: number;
  readonly actor: string;
  readonly ip?: string;
  readonly note?: string;
  /** The first ones, in order; at least one. */
  readonly events: readonly WebhookEvent[];
  /** How many more there are. */
  readonly omitted: number;
}

/**
 * The next thing to deliver: a message, or how far there is nothing to deliver, so that the position can move there. `isLast`:
 * the log has ended.
 */
export type NextMessage =
  | { readonly message: WebhookMessage }
  | { readonly end: number; readonly isLast: boolean };

/** Which changes a webhook delivers. */
export type WebhookScope = Pick<Webhook, 'projectId' | 'environments' | 'events'>;

/** A webhook before it is stored. */
export type NewWebhook = WebhookSettings & Pick<Webhook, 'id' | 'projectId' | 'name' | 'createdAt'>;

/** What changes about a webhook. */
export type WebhookUpdate = Partial<WebhookSettings> &
  Partial<Pick<Webhook, 'status' | 'cursor'>> & { readonly reason?: string };

/** A webhook with changes to deliver. */
export type PendingWebhook = Pick<Webhook, 'id' | 'nextAttemptAt'> & {
  /** When its oldest change was made. */
  readonly pendingSince: number;
  /** Another node delivers for it until then; absent where none does. */
  readonly leasedUntil?: number;
};

/** How long a node may deliver for a webhook without renewing its lease; longer than one attempt. Milliseconds. */
export const LEASE_MS = 30_000;

/** The longest pause until the next attempt, which a receiver may ask for. Milliseconds. */
export const LONGEST_PAUSE_MS = 3_600_000;

/** The right to deliver for one webhook, for a while. */
export interface Lease {
  readonly id: string;
  /** Names this node's run. */
  readonly node: string;
  readonly now: number;
  readonly until: number;
}

/** What an attempt changes about its webhook. */
export interface Settlement {
  /** The position that the attempt started from: if it has moved since, this node no longer has the lease. */
  readonly from: number;
  readonly cursor: number;
  readonly failures: number;
  readonly failingSince?: number;
  readonly nextAttemptAt?: number;
  /** Changes that were given up. */
  readonly givenUp?: number;
  /** In order; none if the position only moves past changes that are not delivered. */
  readonly deliveries: readonly Omit<WebhookDelivery, 'number'>[];
}

/** The address as answers show it. The path of a chat program's address is a secret, and so may be any query. */
export function shownUrl({ url, format }: Pick<Webhook, 'url' | 'format'>): string {
  const { origin, pathname, search } = new URL(url);
  if (format === 'slack') return `${origin}/…`;
  return `${origin}${pathname}${search === '' ? '' : '?…'}`;
}
