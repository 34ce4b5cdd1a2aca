import { expect, test } from 'bun:test';
import { within } from './within.ts';

test('what comes in time is given, as a value or as a failure', async () => {
  expect(await within(Promise.resolve(1), 'one')).toBe(1);
  await expect(within(Promise.reject(new Error('broken')), 'one')).rejects.toThrow('broken');
});

test('what never comes is named', async () => {
  await expect(within(new Promise(() => {}), 'the frame', 5)).rejects.toThrow(
    'the frame did not come within 0.005 s',
  );
});
