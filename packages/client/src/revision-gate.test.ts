import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { createRevisionGate } from './revision-gate.ts';

function gateAt(revision: number | undefined) {
  let now = 0;
  const gate = createRevisionGate(() => now);
  gate.judge({ revision, isSighting: true });
  return { gate, wait: (ms: number) => (now += ms) };
}

describe('numbered maps', () => {
  test('an older one is never taken, from wherever it comes', () => {
    const { gate } = gateAt(10);
    expect(gate.judge({ revision: 9, isSighting: false })).toBe('keep');
    expect(gate.judge({ revision: 9, isSighting: true })).toBe('keep');
    expect(gate.judge({ revision: 9, isSighting: false, askedAt: gate.tick() })).toBe('keep');
    expect(gate.known()).toBe(10);
  });

  test('an equal or newer one is taken, also when it was asked for long ago', () => {
    const { gate } = gateAt(10);
    const askedAt = gate.tick();
    expect(gate.judge({ revision: 11, isSighting: false })).toBe('take');
    expect(gate.judge({ revision: 11, isSighting: false, askedAt })).toBe('take');
    expect(gate.judge({ revision: 15, isSighting: false, askedAt })).toBe('take');
    expect(gate.known()).toBe(15);
  });

  test('whatever comes in whatever order, the revision at hand only grows within a minute', () => {
    const offers = fc.array(fc.record({ revision: fc.nat(50), isSighting: fc.boolean() }));
    fc.assert(
      fc.property(offers, (list) => {
        const gate = createRevisionGate(() => 0);
        let greatest = -1;
        for (const offer of list) {
          gate.judge(offer);
          greatest = Math.max(greatest, offer.revision);
          expect(gate.known()).toBe(greatest);
        }
      }),
    );
  });
});

describe('a service whose revisions restarted lower', () => {
  test('is believed after three connections over a minute, and then followed', () => {
    const { gate, wait } = gateAt(100);
    expect(gate.judge({ revision: 40, isSighting: true })).toBe('keep');
    wait(30_000);
    expect(gate.judge({ revision: 40, isSighting: true })).toBe('keep');
    wait(29_999);
    expect(gate.judge({ revision: 41, isSighting: true })).toBe('keep');
    wait(1);
    expect(gate.judge({ revision: 41, isSighting: true })).toBe('reset');
    expect(gate.judge({ revision: 42, isSighting: false })).toBe('take');
  });

  test('is not believed on few connections, nor from frames or stale answers', () => {
    const { gate, wait } = gateAt(100);
    gate.judge({ revision: 40, isSighting: true });
    wait(90_000);
    expect(gate.judge({ revision: 40, isSighting: true })).toBe('keep');
    for (let i = 0; i < 9; i++) expect(gate.judge({ revision: 40, isSighting: false })).toBe('keep');
  });

  test('is not believed when a current answer came in between', () => {
    const { gate, wait } = gateAt(100);
    gate.judge({ revision: 40, isSighting: true });
    gate.judge({ revision: 40, isSighting: true });
    wait(59_000);
    gate.judge({ revision: 100, isSighting: true });
    wait(59_000);
    expect(gate.judge({ revision: 40, isSighting: true })).toBe('keep');
    expect(gate.judge({ revision: 40, isSighting: true })).toBe('keep');
  });
});

describe('maps without numbers', () => {
  test('an answer asked for before the last frame is dropped, one asked for after it is taken', () => {
    const { gate } = gateAt(undefined);
    const before = gate.tick();
    expect(gate.judge({ revision: undefined, isSighting: false })).toBe('take');
    const after = gate.tick();
    expect(gate.judge({ revision: undefined, isSighting: false, askedAt: before })).toBe('keep');
    expect(gate.judge({ revision: undefined, isSighting: false, askedAt: after })).toBe('take');
  });

  test('of two answers the one asked for later wins, however they arrive', () => {
    const { gate } = gateAt(undefined);
    const [first, second] = [gate.tick(), gate.tick()];
    expect(gate.judge({ revision: undefined, isSighting: false, askedAt: second })).toBe('take');
    expect(gate.judge({ revision: undefined, isSighting: false, askedAt: first })).toBe('keep');
  });
});
