import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import revisions from '../../../conformance/fixtures/revisions.json';
import { createRevisionGate, type Verdict } from './revision-gate.ts';

/** One step of a case in `revisions.json`. */
interface Step {
  readonly waitMs?: number;
  readonly ask?: string;
  readonly offer?: { readonly revision?: number; readonly isSighting: boolean; readonly askedAs?: string };
  readonly verdict?: string;
}

describe('the revision gate', () => {
  test.each(revisions.cases.map(({ name, steps }) => [name, steps as readonly Step[]] as const))(
    '%s',
    (_, steps) => {
      let now = 0;
      const gate = createRevisionGate(() => now);
      const asked = new Map<string, number>();
      for (const [index, { waitMs = 0, ask, offer, verdict }] of steps.entries()) {
        now += waitMs;
        if (ask !== undefined) asked.set(ask, gate.tick());
        if (offer === undefined) continue;
        const { revision, isSighting, askedAs = '' } = offer;
        const askedAt = asked.get(askedAs);
        const given = gate.judge(revision, isSighting, askedAt);
        expect(`step ${index}: ${given}`).toBe(`step ${index}: ${verdict}`);
        if (given !== ('keep' satisfies Verdict)) expect(gate.known()).toBe(revision);
      }
    },
  );

  test('whatever arrives in whatever order, the known revision only grows within a minute', () => {
    const offers = fc.array(fc.record({ revision: fc.nat(50), isSighting: fc.boolean() }));
    fc.assert(
      fc.property(offers, (list) => {
        const gate = createRevisionGate(() => 0);
        let greatest = -1;
        for (const offer of list) {
          gate.judge(offer.revision, offer.isSighting);
          greatest = Math.max(greatest, offer.revision);
          expect(gate.known()).toBe(greatest);
        }
      }),
    );
  });
});
