import { expect, test } from 'bun:test';
import type { ClosedReference, ReferenceRecord } from '@halyard/protocol';
import { LostAnswer, withOutcome } from './lost-answer.ts';

/** What a person reads when the server gives these answers, the last ones for ever. */
async function said(
  record: ReferenceRecord | 'unknown' | undefined,
  closed?: ClosedReference | 'unknown',
): Promise<{ message: string; seconds: number }> {
  let at = 0;
  const { message } = await withOutcome(new LostAnswer('The answer was lost.'), {
    ask: async () => record,
    close: async () => closed,
    pause: async (ms) => {
      at += ms;
    },
    now: () => at,
  });
  return { message, seconds: at / 1000 };
}

const NOTHING: ReferenceRecord = { changes: [], running: false };
const UNKNOWN = 'The answer was lost. The change may have been made. Check "halyard audit"';

test('a write counts as not made only once the server lets it change nothing any later', async () => {
  const { message, seconds } = await said(NOTHING, { changes: [], closed: true });
  expect(message).toBe('The answer was lost. The change was not made: you can run the command again.');
  expect(seconds).toBeGreaterThanOrEqual(20);
});

test.each<[string, ReferenceRecord | 'unknown' | undefined, ClosedReference | 'unknown' | undefined]>([
  ['does not answer', undefined, undefined],
  ['answers nothing to the last question', NOTHING, undefined],
  ['does not know references', 'unknown', undefined],
  ['does not know how to close one', NOTHING, 'unknown'],
  ['may be older at another node', NOTHING, { changes: [], closed: false }],
  ['never ends answering it', { changes: [], running: true }, undefined],
])('a write may have been made when the server %s', async (_, record, closed) => {
  const { message, seconds } = await said(record, closed);
  expect(message).toStartWith(UNKNOWN);
  expect(seconds).toBeLessThan(200);
});

test('a write that was made, also in several changes, names them', async () => {
  const one = await said(NOTHING, { changes: [{ seq: 7 }], closed: false });
  expect(one.message).toContain('The change was made: it is number 7. Do not run the command again.');
  const two = await said({ changes: [{ seq: 7 }, { seq: 9 }], running: false });
  expect(two.message).toContain('The changes were made: they are 7, 9. Do not run the command again.');
});
