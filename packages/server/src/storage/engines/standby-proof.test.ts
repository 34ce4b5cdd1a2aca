import { expect, test } from 'bun:test';
import { StandbyProof } from './standby-proof.ts';

const state = (received: number | null, replayed: number | null) => ({
  isReceiving: true,
  received,
  replayed,
});

test('a standby that shows all it has received was current when it was asked', () => {
  const proof = new StandbyProof();
  expect(proof.take(state(100, 100), 1_000)).toBe(1_000);
  expect(proof.take(state(100, 120), 1_200)).toBe(1_200);
});

test('a standby that lags was current when it had received what it shows now', () => {
  const proof = new StandbyProof();
  proof.take(state(100, 100), 1_000);
  expect(proof.take(state(200, 150), 1_200)).toBe(1_000);
  expect(proof.take(state(300, 199), 1_400)).toBe(1_000);
  expect(proof.take(state(400, 200), 1_600)).toBe(1_200);
  expect(proof.take(state(400, 400), 1_800)).toBe(1_800);
});

test('a standby that shows nothing new for more than three seconds cannot be followed', () => {
  const proof = new StandbyProof();
  proof.take(state(100, 100), 1_000);
  proof.take(state(200, 100), 3_900);
  expect(() => proof.take(state(300, 150), 4_100)).toThrow(
    'the standby is more than 3 seconds behind its primary',
  );
});

test('a standby that is asked for the first time proves nothing until it shows what it had received by then', () => {
  const proof = new StandbyProof();
  expect(proof.take(state(200, 100), 1_000)).toBeUndefined();
  expect(proof.take(state(300, 199), 1_200)).toBeUndefined();
  expect(proof.take(state(300, 200), 1_400)).toBe(1_000);
});

test('a standby whose replay makes no progress cannot be followed at all', () => {
  const proof = new StandbyProof();
  expect(proof.take(state(200, 100), 1_000)).toBeUndefined();
  expect(() => proof.take(state(200, 100), 4_100)).toThrow('more than 3 seconds behind its primary');
});

test.each([
  { isReceiving: false, received: 100, replayed: 100 },
  { isReceiving: true, received: null, replayed: 100 },
])('a standby without its primary cannot be followed: %p', (cutOff) => {
  expect(() => new StandbyProof().take(cutOff, 1_000)).toThrow('not connected to its primary');
});
