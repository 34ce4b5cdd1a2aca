import { expect, test } from 'bun:test';
import { Chance } from './chance.ts';
import { Kernel, Owner } from './kernel.ts';
import { Link } from './link.ts';

test('what is sent on one connection arrives in its order, also at the end of a pause', () => {
  const kernel = new Kernel(1);
  const link = new Link('link', kernel, Chance.of(1, 'link'), 1);
  const arrived: number[] = [];
  for (let pair = 0; pair < 500; pair++) {
    const lane = link.lane();
    const sender = new Owner('sender', 0);
    const send = (message: number) => lane(kernel.owner, () => arrived.push(message));

    // A pause ends between two ticks.
    kernel.pause(sender, 1 + pair / 7_000);
    kernel.after(0, () => send(2 * pair), sender);
    kernel.after(1.1, () => send(2 * pair + 1));
    kernel.runUntil(kernel.now + 10);
  }

  expect(arrived).toEqual(Array.from({ length: 1_000 }, (_, message) => message));
});

test('what a hole has held back arrives before what follows it on its connection', () => {
  const kernel = new Kernel(1);
  const link = new Link('link', kernel, Chance.of(1, 'link'), 1);
  const arrived: number[] = [];
  for (let round = 0; round < 200; round++) {
    const lane = link.lane();

    // Some arrive in the hole, others are on their way when it ends.
    link.slow(10);
    for (let message = 0; message < 5; message++)
      kernel.after(message, () => lane(kernel.owner, () => arrived.push(5 * round + message)));
    kernel.after(9, () => link.dig());
    kernel.after(13 + round / 100, () => link.heal());
    kernel.runUntil(kernel.now + 50);
  }

  expect(arrived).toEqual(Array.from({ length: 1_000 }, (_, message) => message));
});
