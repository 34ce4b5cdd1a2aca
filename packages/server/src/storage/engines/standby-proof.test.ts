import { expect, test } from 'bun:test';
import { StandbyProof } from './standby-proof.ts';

/** A standby that shows a commit of this time, so long after it was made. */
const state = (shownAt: number | null, shownAgeMs = 0) => ({
  isReceiving: true,
  shownAt,
  shownAgeMs: shownAt === null ? null : shownAgeMs,
});

test('a standby was current when the newest commit that it showed by the last question was made', () => {
  const proof = new StandbyProof();
  expect(proof.take(state(5_000), 1_000)).toBeUndefined();
  expect(proof.take(state(6_000, 150), 2_000)).toBeUndefined();
  expect(proof.take(state(6_000, 350), 2_200)).toBe(1_850);
  expect(proof.take(state(7_000, 50), 2_900)).toBe(1_850);
  expect(proof.take(state(7_000, 250), 3_100)).toBe(2_850);
});

test('a commit that a standby showed from the beginning proves nothing, however young: the link may be cut', () => {
  const proof = new StandbyProof();
  for (const askedAt of [1_000, 2_000, 4_000]) expect(proof.take(state(5_000), askedAt)).toBeUndefined();
  expect(() => proof.take(state(5_000), 4_001)).toThrow('nothing new of its primary for 3 seconds');
});

test('a standby that shows nothing new for more than three seconds after its last commit cannot be followed', () => {
  const proof = new StandbyProof();
  proof.take(state(5_000), 1_000);
  proof.take(state(6_000, 500), 2_000);
  expect(proof.take(state(6_000, 2_900), 4_400)).toBe(1_500);
  expect(() => proof.take(state(6_000, 3_100), 4_600)).toThrow('nothing new of its primary for 3 seconds');
});

test('a standby that catches up shows new commits that are old, and is as old as they are', () => {
  const proof = new StandbyProof();
  proof.take(state(5_000, 25_000), 1_000);
  proof.take(state(15_000, 15_200), 1_200);
  expect(() => proof.take(state(25_000, 5_400), 1_400)).toThrow(
    '15 seconds behind its primary, or their clocks',
  );
});

test('a clock of the standby that is behind makes no commit younger than the question', () => {
  const proof = new StandbyProof();
  proof.take(state(null), 1_000);
  proof.take(state(6_000, -70_000), 2_000);
  expect(proof.take(state(6_000, -69_000), 3_000)).toBe(2_000);
  expect(() => proof.take(state(6_000, -67_000), 5_100)).toThrow('nothing new of its primary');
});

test('a standby without its primary cannot be followed', () => {
  const cutOff = { ...state(5_000), isReceiving: false };
  expect(() => new StandbyProof().take(cutOff, 1_000)).toThrow('not connected to its primary');
});
