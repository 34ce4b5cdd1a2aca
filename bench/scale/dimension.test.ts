import { expect, test } from 'bun:test';
import { type Dimension, type Figure, fasterThanInput, formatDimension } from './dimension.ts';

const DIMENSION: Dimension = {
  title: 'Flags',
  input: 'Count',
  sizes: [10, 100, 1_000].map((input) => ({
    input,
    label: String(input),
    figures: {
      steady: figure(5),
      square: figure(input * input),
      size: { text: 'x', judged: [{ value: input ** 2, floor: 0, isBytes: true }] },
    },
  })),
};

function figure(value: number): Figure {
  return { text: String(value), judged: [{ name: 'time', value, floor: 0 }] };
}

test('names what grows faster than its input, bytes left out', () => {
  expect(fasterThanInput(DIMENSION)).toEqual(['Flags: square, time (10000.00 x)']);
});

test('shows the figures of each size, and below them how each grows', () => {
  const text = formatDimension(DIMENSION, 'markdown');
  expect(text).toContain('| 1000 | 5 | 1000000 | x |');
  expect(text).toContain('| steady, time | 100.00 x | 1.00 x | flat |');
  expect(text).toContain('| size (bytes) | 100.00 x | 10000.00 x | faster than its input |');
});

test('a size without a figure shows a dash and is not compared', () => {
  const sizes = [...DIMENSION.sizes, { label: 'several', figures: { steady: figure(900) } }];
  const dimension = { ...DIMENSION, sizes };
  expect(formatDimension(dimension, 'text')).toMatch(/several +900 +- +-/);
  expect(fasterThanInput(dimension)).toHaveLength(1);
});
