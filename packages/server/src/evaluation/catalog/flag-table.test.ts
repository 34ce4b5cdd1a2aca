import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { FlagTable } from './flag-table.ts';

const NOTHING = new Uint8Array();
const OPEN = new TextEncoder().encode('{');
const CLOSE = new TextEncoder().encode('}');

function text(table: FlagTable): string {
  return new TextDecoder().decode(table.encode(OPEN, CLOSE));
}

describe('FlagTable', () => {
  test('an empty table encodes to nothing but its frame', () => {
    expect(text(new FlagTable())).toBe('{}');
    expect(new FlagTable().encode(NOTHING, NOTHING)).toHaveLength(0);
  });

  test('sorts flags by key, regardless of the order in which they were set', () => {
    const table = new FlagTable();
    for (const key of ['b', 'a', 'c', '__proto__', 'B']) table.set(key, '{"enabled":true}');
    expect([...text(table).matchAll(/"([^"]+)":\{/g)].map((match) => match[1])).toEqual([
      'B',
      '__proto__',
      'a',
      'b',
      'c',
    ]);
  });

  test('behaves like a sorted map for any sequence of sets and deletes', () => {
    const key = fc.integer({ min: 0, max: 700 }).map((n) => `flag-${n}`);
    const step = fc.record({ key, on: fc.boolean(), remove: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 1500 }), (steps) => {
        const table = new FlagTable();
        const model = new Map<string, string>();
        for (const { key, on, remove } of steps) {
          if (remove) {
            table.delete(key);
            model.delete(key);
          } else {
            table.set(key, `{"enabled":${on}}`);
            model.set(key, `{"enabled":${on}}`);
          }
        }
        const sorted = [...model].sort(([a], [b]) => (a < b ? -1 : 1));
        expect(text(table)).toBe(`{${sorted.map(([key, state]) => `"${key}":${state}`).join(',')}}`);
        expect(table.size).toBe(model.size);
      }),
      { numRuns: 40 },
    );
  });

  test('finds and encodes ten thousand flags after a change in the middle', () => {
    const table = new FlagTable();
    for (let i = 0; i < 10_000; i++) table.set(`flag-${i}`, '{"enabled":false}');
    text(table);
    table.set('flag-5000', '{"enabled":true}');
    const map = JSON.parse(text(table)) as Record<string, { enabled: boolean }>;
    expect(Object.keys(map)).toHaveLength(10_000);
    expect(
      Object.entries(map)
        .filter(([, state]) => state.enabled)
        .map(([key]) => key),
    ).toEqual(['flag-5000']);
  });
});
