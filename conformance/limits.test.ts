import { expect, test } from 'bun:test';
import { conformance } from './subject.ts';
import { World } from './world.ts';

conformance('8. Limits', (subject) => {
  test('S8.1 by default, a thousand quick reads with one key are all answered', async () => {
    const world = await World.make(subject(), { flag: { enabled: true } });
    const statuses = new Map<number, number>();
    for (let round = 0; round < 20; round++) {
      const answers = await Promise.all(
        Array.from({ length: 50 }, () => world.fetch('/v1/flags/flag?env=production')),
      );
      for (const answer of answers) {
        await answer.body?.cancel();
        statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
      }
    }
    expect([...statuses]).toEqual([[200, 1000]]);
  });
});
