import { expect, test } from 'bun:test';
import type { WebhookDelivery } from '../../api/types.ts';
import { groupsOf, reasonOf } from './delivery-groups.ts';

const at = '2026-11-23T11:00:00.000Z';

test('attempts are grouped by change, that with the newest attempt first', () => {
  const attempt = (number: number, seq?: number): WebhookDelivery => ({
    number,
    messageId: `m${seq ?? number}`,
    trigger: 'change',
    outcome: 'failed',
    at,
    durationMs: 1,
    ...(seq === undefined ? {} : { seq }),
  });
  const deliveries = [attempt(6, 42), attempt(5), attempt(4, 41), attempt(3, 42), attempt(2), attempt(1, 41)];
  expect(
    groupsOf(deliveries).map(({ newest, earlier }) => [
      newest.seq,
      newest.number,
      earlier.map((each) => each.number),
    ]),
  ).toEqual([
    [42, 6, [3]],
    [undefined, 5, []],
    [41, 4, [1]],
    [undefined, 2, []],
  ]);
});

test('a reason is the status and what the receiver said, in a line', () => {
  const reason = (answer: string | undefined, status?: number) =>
    reasonOf({
      at,
      ...(answer !== undefined && { answer }),
      ...(status !== undefined && { status }),
      error: 'E.',
    });
  expect(reason('channel_not_found', 500)).toBe('500 · channel_not_found');
  expect(reason('{"ok":false,"error":"invalid_auth"}', 401)).toBe('401 · invalid_auth');
  expect(reason('{"message":{"a":1}}', 400)).toBe('400 · {"message":{"a":1}}');
  expect(reason('null', 400)).toBe('400 · null');
  expect(reason('<html>\n<h1>502 Bad Gateway</h1></html>', 502)).toBe('502 Bad Gateway');
  expect(reason('one\ntwo', 503)).toBe('503 · one');
  expect(reason('', 503)).toBe('503 · no text in the response');
  expect(reason(undefined)).toBe('E.');
});
