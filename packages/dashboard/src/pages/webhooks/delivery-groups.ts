import type { WebhookDelivery, WebhookRecord } from '../../api/types.ts';
import { messages } from './messages.tsx';

/** The attempts to send one message, newest first. */
export interface DeliveryGroup {
  readonly newest: WebhookDelivery;
  readonly earlier: readonly WebhookDelivery[];
}

/** Groups attempts by change, the group with the newest attempt first. Each test message is a group. */
export function groupsOf(deliveries: readonly WebhookDelivery[]): readonly DeliveryGroup[] {
  const groups = Map.groupBy(deliveries, ({ seq, messageId }) => seq ?? messageId);
  return [...groups.values()].flatMap(([newest, ...earlier]) =>
    newest === undefined ? [] : [{ newest, earlier }],
  );
}

/** Characters of a reason in a row. */
const SHOWN_REASON = 90;

/** Why an attempt failed, in a line: "500 · channel_not_found". */
export function reasonOf({ status, error, answer = '' }: NonNullable<WebhookRecord['lastFailure']>): string {
  if (status === undefined) return error ?? messages.noAnswer;

  // Of a page of HTML, its text.
  const plain = answer.replaceAll(/<[^>]*>/g, ' ').trim();
  const text = errorIn(answer) ?? plain.split('\n', 1).join('').trim();
  const short = text.length > SHOWN_REASON ? `${text.slice(0, SHOWN_REASON)}…` : text;
  return messages.failure(status, short === '' ? messages.noAnswer : short);
}

/** The error that a JSON answer names. An answer may be cut; then it is not JSON, and its text is shown. */
function errorIn(answer: string): string | undefined {
  try {
    // Any shape: each member is checked.
    const { error, message } = JSON.parse(answer) as { readonly error?: unknown; readonly message?: unknown };
    return [error, message].find((text) => typeof text === 'string');
  } catch {
    return undefined;
  }
}
