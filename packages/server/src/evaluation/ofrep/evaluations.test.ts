import { describe, expect, jest, test } from 'bun:test';
import type { StateOperation } from '../../domain/project.ts';
import { LiveEnvironment } from '../catalog/live-environment.ts';
import { EvaluatedEnvironment } from './evaluations.ts';

const ON = '{"enabled":true}';
const OFF = '{"enabled":false}';
const HALF = '{"enabled":true,"value":"half","rolloutPct":50}';

const FACTS = { requestId: 'r', staleSeconds: undefined };

/** An environment with these flags, at the revision that follows 1. */
function make(...flags: StateOperation[]) {
  const environment = new LiveEnvironment({ id: 'e', projectId: 'p', name: 'production', revision: 1 });
  environment.apply(2, flags);
  return { environment, evaluated: new EvaluatedEnvironment(environment) };
}

describe('an evaluated environment', () => {
  test('puts an answer that no target changes together once per revision', () => {
    const { environment, evaluated } = make(['a', ON], ['b', OFF]);
    const first = evaluated.bulk('user-1', []);
    expect(evaluated.bulk('user-2', []).bytes).toBe(first.bytes);
    expect(evaluated.bulk(undefined, []).etag).toBe(first.etag);
    environment.apply(3, [['b', ON]]);
    expect(evaluated.bulk('user-1', []).bytes).not.toBe(first.bytes);
  });

  test('keeps the answers of several keys, and the last one however large it is', () => {
    const stream = (ticket: number) =>
      [{ type: 'sse', endpoint: { requestUri: `/stream?ticket=${ticket}` } }] as const;
    const small = make(['a', ON]).evaluated;
    const [first, other] = [small.bulk('user-1', stream(1)), small.bulk('user-1', stream(2))];
    expect(small.bulk('user-2', stream(1))).toBe(first);
    expect(small.bulk('user-2', stream(2))).toBe(other);

    const large = make(['a', `{"enabled":true,"value":"${'x'.repeat(300_000)}"}`]).evaluated;
    const last = large.bulk('user-1', stream(1));
    expect(large.bulk('user-2', stream(1))).toBe(last);
    large.bulk('user-1', stream(2));
    expect(large.bulk('user-1', stream(1))).not.toBe(last);
  });

  test.each([
    [2_000, 'zstdCompressSync'],
    [100_000, 'zstdCompress'],
  ] as const)(
    'compresses an answer of %d bytes once for all its readers, with %s',
    async (length, compress) => {
      const { evaluated } = make(['a', `{"enabled":true,"value":"${'x'.repeat(length)}"}`]);
      const request = new Request('http://localhost', { headers: { 'Accept-Encoding': 'zstd' } });
      const compressing = jest.spyOn(Bun, compress);
      try {
        for (let user = 0; user < 5; user++) {
          const answers = [1, 2].map(() => evaluated.bulk(`user-${user}`, []).respond(request, FACTS));
          for (const { headers } of await Promise.all(answers))
            expect(headers.get('Content-Encoding')).toBe('zstd');
        }
        expect(compressing).toHaveBeenCalledTimes(1);
      } finally {
        compressing.mockRestore();
      }
    },
  );

  test('sends a large answer plain while eight are being compressed', async () => {
    const { evaluated } = make([
      'a',
      `{"enabled":true,"value":"${'x'.repeat(100_000)}","rolloutPct":99.999}`,
    ]);
    const request = new Request('http://localhost', { headers: { 'Accept-Encoding': 'zstd' } });
    const codings = await Promise.all(
      Array.from({ length: 9 }, async (_, index) => {
        const stream = { type: 'sse', endpoint: { requestUri: `/stream?ticket=${index}` } } as const;
        const { headers } = await evaluated.bulk('user-1', [stream]).respond(request, FACTS);
        return headers.get('Content-Encoding');
      }),
    );
    expect(codings).toEqual([...Array(8).fill('zstd'), null]);
  });

  test('keeps the encoded answer of a flag for as long as its state stays', () => {
    const { environment, evaluated } = make(['a', ON], ['half', HALF]);
    const answers = () => [evaluated.flag('a')?.answer('x'), evaluated.flag('half')?.answer('user-2')];
    const [a, half] = answers();
    environment.apply(3, [['b', OFF]]);
    evaluated.bulk(undefined, []);
    expect(answers()[0]).toBe(a as never);
    expect(answers()[1]).toBe(half as never);
    environment.apply(4, [['a', OFF]]);
    expect(answers()[0]).not.toBe(a as never);
    environment.apply(5, [['a', ON]]);
    expect(answers()[0]).toEqual(a as never);
  });

  test('has no flag that was removed, and one that came back as it is then', () => {
    const { environment, evaluated } = make(['a', ON], ['b', ON]);
    expect(evaluated.flag('a')).toBeDefined();
    environment.apply(3, [['a', null]]);
    expect(evaluated.flag('a')).toBeUndefined();
    expect(evaluated.flag('b')).toBeDefined();
    environment.apply(4, [['a', OFF]]);
    expect(new TextDecoder().decode(evaluated.flag('a')?.answer(undefined).bytes)).toContain('DISABLED');
  });

  test('answers the same bytes and tags on every node, in any order of the flags', () => {
    const [one, other] = [make(['b', HALF], ['a', ON], ['c', OFF]), make(['c', OFF], ['b', HALF], ['a', ON])];
    for (const target of [undefined, '', 'user-1', 'user-2']) {
      const [mine, theirs] = [one, other].map(({ evaluated }) => evaluated.bulk(target, []));
      expect(mine?.etag).toBe(theirs?.etag ?? '');
      expect(mine?.bytes).toEqual(theirs?.bytes ?? new Uint8Array());
    }
  });

  test('has another tag than an environment whose rollout has another value', () => {
    const [one, other] = [make(['half', HALF]), make(['half', HALF.replace('"half"', '"other"')])];
    const [mine, theirs] = [one, other].map(({ evaluated }) => evaluated.bulk('user-1', []).etag);
    expect(mine).not.toBe(theirs ?? '');
  });

  test('has a different tag when the bytes differ', () => {
    const { environment, evaluated } = make(['a', ON], ['half', HALF], ['third', HALF.replace('50', '33.3')]);
    const tags = new Map<string, string>();
    const stream = { type: 'sse', endpoint: { requestUri: '/stream?ticket=1' } } as const;
    for (let revision = 2; revision < 6; revision++) {
      for (let user = 0; user < 50; user++) {
        for (const streams of [[], [stream]]) {
          const { etag, bytes } = evaluated.bulk(user === 0 ? undefined : `user-${user}`, streams);
          const text = new TextDecoder().decode(bytes);
          expect(tags.get(etag) ?? text).toBe(text);
          tags.set(etag, text);
        }
      }
      environment.apply(revision + 1, [['a', revision % 2 === 0 ? OFF : ON]]);
    }
    // Four revisions, with and without a stream; both rollouts in each combination, and no targeting key.
    expect(new Set(tags.values()).size).toBe(tags.size);
    expect(tags.size).toBe(4 * 2 * 5);
  });
});
