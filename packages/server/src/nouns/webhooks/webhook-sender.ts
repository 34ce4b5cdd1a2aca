import { ServiceError } from '../../domain/errors.ts';
import { type GuardedPoster, PostError } from '../../http/guarded-post.ts';
import type { ManagementContext } from '../../management/context.ts';
import { messageBody, pingBody } from './message-body.ts';
import { signatureHeaders } from './signing.ts';
import {
  LONGEST_PAUSE_MS,
  type WebhookDelivery,
  type WebhookMessage,
  type WebhookTarget,
} from './webhook.ts';

/** Tests and replays that run at once on this node. */
const MANUAL_LIMIT = 8;

/** Seconds that a receiver may ask to be left alone, with `Retry-After`. */
const MAX_RETRY_AFTER_SECONDS = LONGEST_PAUSE_MS / 1000;

/** What became of one request to a receiver. */
export interface Attempt
  extends Pick<WebhookDelivery, 'outcome' | 'at' | 'durationMs' | 'status' | 'error' | 'answer'> {
  /** How long the receiver asks to be left alone. */
  readonly retryAfterMs?: number;
}

/** Parts of a {@link WebhookSender}. */
export interface WebhookSenderParts {
  readonly poster: GuardedPoster;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Where people reach the dashboard, without a slash at the end. */
  readonly dashboardUrl: string;
  readonly version: string;
}

/** The parts of the node that operations on webhooks use. */
export interface WebhookContext extends ManagementContext {
  readonly sender: WebhookSender;
}

/** Sends messages to the addresses of webhooks. Never rejects because of a receiver: that is an {@link Attempt} too. */
export class WebhookSender {
  readonly #parts: WebhookSenderParts;
  #manual = 0;

  constructor(parts: WebhookSenderParts) {
    this.#parts = parts;
  }

  /** Sends the message of a change. */
  change(target: WebhookTarget, message: WebhookMessage, signal?: AbortSignal): Promise<Attempt> {
    const body = messageBody(target, message, this.#parts.dashboardUrl);
    return this.#send(target, { messageId: message.messageId, body }, signal);
  }

  /** Sends a test message. */
  ping(target: WebhookTarget, messageId: string): Promise<Attempt> {
    return this.#send(target, { messageId, body: pingBody(target, this.#parts.now()) });
  }

  /** Runs work that a person waits for; `rate_limited` while too much of it runs. */
  async manually<T>(work: () => Promise<T>): Promise<T> {
    if (this.#manual >= MANUAL_LIMIT) {
      const message = 'Too many tests and replays of webhooks run at the moment: try again in a few seconds.';
      throw new ServiceError('rate_limited', message, { retryAfterSeconds: 5 });
    }
    this.#manual++;
    try {
      return await work();
    } finally {
      this.#manual--;
    }
  }

  async #send(
    target: WebhookTarget,
    { messageId, body }: { readonly messageId: string; readonly body: string },
    signal?: AbortSignal,
  ): Promise<Attempt> {
    const { poster, now, version } = this.#parts;
    const at = now();
    const startedAt = performance.now();
    const passed = () => ({ at, durationMs: Math.round(performance.now() - startedAt) });

    const headers = {
      'Content-Type': 'application/json',
      'User-Agent': `Halyard/${version}`,
      ...signatureHeaders(target, { messageId, at, body }),
    };

    try {
      const { status, retryAfter, beginning } = await poster.send({
        url: target.url,
        headers,
        body,
        ...(signal === undefined ? {} : { signal }),
      });
      // A database may refuse this character.
      const answered = { ...passed(), status, answer: beginning.replaceAll('\0', '') };
      if (status >= 200 && status < 300) return { ...answered, outcome: 'delivered' };

      const retryAfterMs = readRetryAfter(retryAfter, at);
      const error = describeStatus(status);
      return { ...answered, outcome: 'failed', error, ...(retryAfterMs && { retryAfterMs }) };
    } catch (error) {
      if (!(error instanceof PostError)) throw error;
      return { ...passed(), outcome: 'failed', error: error.message };
    }
  }
}

function describeStatus(status: number): string {
  if (status >= 300 && status < 400) return `The receiver answered ${status}: redirects are not followed.`;
  return `The receiver answered ${status} instead of 2xx.`;
}

/** Seconds or a date, in milliseconds from now; at most an hour. */
function readRetryAfter(text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined;
  const seconds = /^\d{1,9}$/.test(text) ? Number(text) : (Date.parse(text) - now) / 1000;
  return seconds > 0 ? Math.min(seconds, MAX_RETRY_AFTER_SECONDS) * 1000 : undefined;
}
