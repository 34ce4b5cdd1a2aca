import type { WebhookDelivery, WebhookRecord } from '../../api/types.ts';
import { messages } from './messages.tsx';

/** The attempts to send one message, newest first; at least one. */
export interface DeliveryGroup {
  /** The change; absent for a test. */
  readonly seq?: number;
  readonly newest: WebhookDelivery;
  readonly earlier: readonly WebhookDelivery[];
}

/** The attempts by change, that with the newest attempt first. Each test is a message of its own. */
export function groupsOf(deliveries: readonly WebhookDelivery[]): readonly DeliveryGroup[] {
  const groups = Map.groupBy(deliveries, ({ seq, messageId }) => seq ?? messageId);
  return [...groups.values()].flatMap(([newest, ...earlier]) =>
    newest === undefined
      ? []
      : [{ newest, earlier, ...(newest.seq === undefined ? {} : { seq: newest.seq }) }],
  );
}

/** Characters of a reason in a row. */
const SHOWN_REASON = 90;

/** Why an attempt failed, in a line: "500 · channel_not_found". */
export function reasonOf({ status, error, answer = '' }: NonNullable<WebhookRecord['lastFailure']>): string {
  if (status === undefined) return error ?? messages.noAnswer;
  // Of a page of HTML, its text.
  const text =
    errorIn(answer) ??
    answer
      .replaceAll(/<[^>]*>/g, ' ')
      .trim()
      .split('\n')[0]
      ?.trim() ??
    '';
  const short = text.length > SHOWN_REASON ? `${text.slice(0, SHOWN_REASON)}…` : text;
  return messages.failure(status, short === '' ? messages.noAnswer : short);
}

/** The text of the usual members of a JSON answer. An answer may be cut, and is none then. */
function errorIn(answer: string): string | undefined {
  try {
    // Any shape: each member is checked.
    const { error, message } = JSON.parse(answer) as { readonly error?: unknown; readonly message?: unknown };
    return [error, message].find((text) => typeof text === 'string');
  } catch {
    return undefined;
  }
}
