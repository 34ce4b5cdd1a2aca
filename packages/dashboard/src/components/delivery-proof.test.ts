import { expect, test } from 'bun:test';
import { sumOf } from './delivery-proof.tsx';

test('a stream that takes several flags of one change counts once', () => {
  const delivery = (seq: number, environment: string, streams: number, seen: number) =>
    ({ seq, project: 'shop', environment, streams, seen, slowestMs: 100 - seq }) as const;

  const newestFirst = [
    delivery(3, 'staging', 4, 4),
    delivery(2, 'production', 10, 9),
    delivery(1, 'production', 10, 10),
  ];
  expect(sumOf(newestFirst)).toMatchObject({ streams: 14, seen: 13, slowestMs: 99 });
});
