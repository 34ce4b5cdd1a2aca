import { expect, test } from 'bun:test';
import { within } from './within.ts';

test('passes on a value or a failure that comes in time', async () => {
  expect(await within(Promise.resolve(1), 'one')).toBe(1);
  await expect(within(Promise.reject(new Error('broken')), 'one')).rejects.toThrow('broken');
});

test('names what never comes', async () => {
  await expect(within(new Promise(() => {}), 'the frame', 5)).rejects.toThrow(
    'the frame did not come within 0.005 s',
  );
});
