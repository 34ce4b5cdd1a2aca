import { expect, test } from 'bun:test';
import { growthOf } from './growth.ts';

const inputs = [100, 1_000, 10_000];

function verdictOf(figures: readonly number[], floor = 0): string | undefined {
  const points = figures.map((figure, index) => ({ input: inputs[index] ?? 0, figure }));
  return growthOf(points, floor)?.verdict;
}

test('a figure that stays the same is flat, and noise does not change that', () => {
  expect(verdictOf([10, 14, 12])).toBe('flat');
  expect(verdictOf([10, 3, 1])).toBe('flat');
});

test('a figure that grows less than its input grows slower', () => {
  expect(verdictOf([10, 20, 40])).toBe('slower than its input');
});

test('a figure in proportion grows with its input', () => {
  expect(verdictOf([1, 10, 100])).toBe('with its input');
  expect(verdictOf([1, 10, 120])).toBe('with its input');
});

test('a figure that grows as the square of its input grows faster', () => {
  expect(verdictOf([1, 100, 10_000])).toBe('faster than its input');
});

test('one step that outgrows its input is enough, although the first sizes hide it', () => {
  expect(verdictOf([5, 5, 90])).toBe('faster than its input');
});

test('a slow moment at one size is not growth', () => {
  expect(verdictOf([10, 900, 30])).toBe('slower than its input');
});

test('figures below the floor are noise', () => {
  expect(verdictOf([0.01, 0.05, 2], 2)).toBe('flat');
});

test('one size says nothing about growth', () => {
  expect(growthOf([{ input: 5, figure: 1 }], 0)).toBeUndefined();
  expect(
    growthOf(
      [
        { input: 5, figure: 1 },
        { input: 6, figure: Number.NaN },
      ],
      0,
    ),
  ).toBeUndefined();
});

test('the factors are those from the smallest to the largest input, in any order', () => {
  const points = [
    { input: 40, figure: 6 },
    { input: 10, figure: 2 },
  ];
  expect(growthOf(points, 0)).toMatchObject({ figureFactor: 3, inputFactor: 4 });
});
