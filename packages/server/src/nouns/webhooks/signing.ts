import { createHmac } from 'node:crypto';
import type { WebhookTarget } from './webhook.ts';

/** The prefix of every secret, by the rules of Standard Webhooks. */
const SECRET_PREFIX = 'whsec_';

/** The bytes of a new secret. */
export const SECRET_BYTES = 32;

/** A secret as receivers keep it. */
export function formatWebhookSecret(bytes: Uint8Array): string {
  return SECRET_PREFIX + Buffer.from(bytes).toString('base64');
}

/** What is signed. */
export interface SignedMessage {
  readonly messageId: string;
  /** When it is sent, in epoch milliseconds. */
  readonly at: number;
  readonly body: string;
}

/**
 * The headers of Standard Webhooks: id, time in seconds, and the HMAC-SHA-256 of both and the body. During a rotation
 * there are two signatures, and receivers accept a message when one of them is right.
 */
export function signatureHeaders(
  target: Pick<WebhookTarget, 'secret' | 'previousSecret' | 'previousSecretUntil'>,
  { messageId, at, body }: SignedMessage,
): Readonly<Record<string, string>> {
  const seconds = Math.floor(at / 1000);
  const content = `${messageId}.${seconds}.${body}`;
  const { secret, previousSecret, previousSecretUntil = 0 } = target;
  const secrets = [
    secret,
    ...(previousSecret !== undefined && at < previousSecretUntil ? [previousSecret] : []),
  ];
  return {
    'webhook-id': messageId,
    'webhook-timestamp': String(seconds),
    'webhook-signature': secrets.map((each) => `v1,${sign(each, content)}`).join(' '),
  };
}

function sign(secret: string, content: string): string {
  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
  return createHmac('sha256', key).update(content).digest('base64');
}
