import { expect, test } from 'bun:test';
import { Chance } from './chance.ts';

test('the same seed makes the same choices, and another seed different ones', () => {
  const choices = (seed: number): number[] => {
    const chance = new Chance(seed);
    return Array.from({ length: 20 }, () => chance.pick([1, 2, 3, 4, 5]));
  };
  expect(choices(7)).toEqual(choices(7));
  expect(choices(7)).not.toEqual(choices(8));
});

test('a fork does not depend on how often its origin chooses afterwards', () => {
  const first = new Chance(1);
  const fork = first.fork();
  first.next();
  expect(fork.next()).toBe(new Chance(1).fork().next());
});

test('shuffling keeps every item', () => {
  expect(new Chance(3).shuffle([1, 2, 3, 4]).sort()).toEqual([1, 2, 3, 4]);
});
