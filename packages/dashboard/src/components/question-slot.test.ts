import { expect, test } from 'bun:test';
import { createQuestionSlot } from './question-slot.ts';

interface Shown {
  readonly name: string;
  readonly answer: (answer: 'yes' | 'no') => void;
}

function openSlot() {
  let shown: Shown | undefined;
  const slot = createQuestionSlot<Shown>((question) => {
    shown = question;
  });
  const ask = (name: string) => slot.ask<'yes' | 'no'>('no', (answer) => ({ name, answer }));
  return { ask, shown: () => shown };
}

test('a question is shown until it is answered', async () => {
  const { ask, shown } = openSlot();
  const answer = ask('first');
  expect(shown()?.name).toBe('first');
  shown()?.answer('yes');
  expect(await answer).toBe('yes');
  expect(shown()).toBeUndefined();
});

test('a second question answers the first with no, and stays until it is answered itself', async () => {
  const { ask, shown } = openSlot();
  const first = ask('first');
  const second = ask('second');
  expect(await first).toBe('no');
  expect(shown()?.name).toBe('second');
  shown()?.answer('yes');
  expect(await second).toBe('yes');
  expect(shown()).toBeUndefined();
});
