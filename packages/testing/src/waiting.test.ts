import { expect, test } from 'bun:test';
import { until, within } from './waiting.ts';

test('a condition is looked at until it holds, and its value is given', async () => {
  let looks = 0;
  expect(await until('the third look', () => ++looks >= 3 && `look ${looks}`)).toBe('look 3');
  expect(await until('a promise', () => Promise.resolve(['something']))).toEqual(['something']);
});

test('a condition that never holds is named, also when the look itself hangs', async () => {
  const message = 'Timed out after 0.02 s. Expected: the node is ready.';
  await expect(until('the node is ready', () => false, 20)).rejects.toThrow(message);
  await expect(until('the node is ready', () => new Promise(() => {}), 20)).rejects.toThrow(message);
});

test('a look that fails ends the wait', async () => {
  const look = () => {
    throw new Error('the node is gone');
  };
  await expect(until('the node is ready', look)).rejects.toThrow('the node is gone');
});

test('work is awaited, as a value or as a failure', async () => {
  expect(await within('one', Promise.resolve(1))).toBe(1);
  await expect(within('one', Promise.reject(new Error('broken')))).rejects.toThrow('broken');
});

test('work that never ends is named', async () => {
  const message = 'Timed out after 0.02 s. Expected: the stream ends.';
  await expect(within('the stream ends', new Promise(() => {}), 20)).rejects.toThrow(message);
});
