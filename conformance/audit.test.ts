import { expect, test } from 'bun:test';
import { expectError } from './expectations.ts';
import { conformance } from './subject.ts';
import { World } from './world.ts';

/** An answer of the follower, as far as it is used here. */
interface Followed {
  readonly entries: readonly { readonly target: string; readonly seq: number; readonly cursor: string }[];
  readonly next: string;
}

conformance('24. The audit log', (subject) => {
  test('S24.5 S24.6 following a project gives each of its entries once, oldest first, from any place on', async () => {
    const world = await World.make(subject(), { a: { enabled: true } });
    const follow = async (query: string): Promise<Followed> => {
      const answer = await world.manage('GET', `/api/audit/follow?project=${world.project}&${query}`);
      expect(answer.status).toBe(200);
      // The shape is what S24.5 promises.
      return (await answer.json()) as Followed;
    };

    const { next } = await follow('');
    const written: number[] = [];
    for (const value of [1, 2, 3]) {
      const answer = await world.putText('a', `{"enabled":true,"value":${value}}`);
      written.push(((await answer.json()) as { readonly seq: number }).seq);
    }

    const { entries, next: end } = await follow(`after=${next}`);
    expect(entries.map(({ seq }) => seq)).toEqual(written);
    expect((await follow(`after=${entries[0]?.cursor}`)).entries).toEqual(entries.slice(1));
    expect((await follow(`after=${written[0]}`)).entries).toEqual(entries.slice(1));
    expect((await follow(`after=${end}`)).entries).toEqual([]);

    const beyond = await world.manage('GET', '/api/audit/follow?after=999999999999');
    await expectError(beyond, 'invalid_argument', 'a place beyond the end');
  });
});
