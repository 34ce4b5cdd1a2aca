import { expect, test } from 'bun:test';
import { beforeDeadline, until, within } from './waiting.ts';

test('checks a condition until it holds, and returns its value', async () => {
  let looks = 0;
  expect(await until('the third look', () => ++looks >= 3 && `look ${looks}`)).toBe('look 3');
  expect(await until('a promise', () => Promise.resolve(['something']))).toEqual(['something']);
});

test('names a condition that never holds, even if its check hangs', async () => {
  const message = 'Timed out after 0.02 s. Expected: the node is ready.';
  await expect(until('the node is ready', () => false, 20)).rejects.toThrow(message);
  await expect(until('the node is ready', () => new Promise(() => {}), 20)).rejects.toThrow(message);
});

test('a failing check ends the wait', async () => {
  const look = () => {
    throw new Error('the node is gone');
  };
  await expect(until('the node is ready', look)).rejects.toThrow('the node is gone');
});

test('passes on the value or the failure of the work', async () => {
  expect(await within('one', Promise.resolve(1))).toBe(1);
  await expect(within('one', Promise.reject(new Error('broken')))).rejects.toThrow('broken');
});

test('names work that never ends', async () => {
  const message = 'Timed out after 0.02 s. Expected: the stream ends.';
  await expect(within('the stream ends', new Promise(() => {}), 20)).rejects.toThrow(message);
});

test('makes an attempt that ends after its deadline again, with more time', async () => {
  const given: number[] = [];
  const attempt = async (deadline: number) => {
    given.push(deadline - Date.now());
    if (given.length < 3) await until('the time is over', () => Date.now() >= deadline);
    if (given.length === 2) throw new Error('too late');
    return 'in time';
  };
  expect(await beforeDeadline(attempt, 20)).toBe('in time');
  expect(given).toHaveLength(3);
  await expect(beforeDeadline(() => Promise.reject(new Error('refused')))).rejects.toThrow('refused');
});
