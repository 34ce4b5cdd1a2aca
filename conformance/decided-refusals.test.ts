import { expect, test } from 'bun:test';
import { beforeDeadline, type RawAnswer } from '@halyard/testing';
import { expectErrorText } from './expectations.ts';
import { conformance } from './subject.ts';
import { World } from './world.ts';

type HeaderLines = readonly (readonly [name: string, value: string])[];

conformance('10. Decided: one refusal for every bad key', (subject) => {
  test('S10.3 S13.1 all causes of 401 give the same status, headers and body, on every endpoint', async () => {
    const world = await World.make(subject());
    const revoked = await world.management.createKey(world.project, ['production']);
    await world.management.revokeKey(revoked.id);
    const [expired, expiresAt] = await beforeDeadline(
      async (deadline) => [await world.createExpiringKey(deadline), deadline] as const,
      300,
    );
    // Time itself is the event here.
    await Bun.sleep(Math.max(0, expiresAt + 50 - Date.now()));
    const changed = world.key.slice(0, 20) + (world.key[20] === 'a' ? 'b' : 'a') + world.key.slice(21);

    const causes: Readonly<Record<string, HeaderLines>> = {
      missing: [],
      empty: [['X-Service-Key', '']],
      unknown: [['X-Service-Key', `proj_live_${'A'.repeat(49)}`]],
      'another prefix': [['X-Service-Key', world.key.replace('proj_live_', 'proj_test_')]],
      'no prefix': [['X-Service-Key', world.key.slice('proj_live_'.length)]],
      'one character changed, so that the checksum is wrong': [['X-Service-Key', changed]],
      'cut short': [['X-Service-Key', world.key.slice(0, -1)]],
      'another case': [['X-Service-Key', world.key.toUpperCase()]],
      quoted: [['X-Service-Key', `"${world.key}"`]],
      'an inherited name': [['X-Service-Key', '__proto__']],
      'not ASCII': [['X-Service-Key', 'proj_live_\u00e4\u00f6']],
      revoked: [['X-Service-Key', revoked.key]],
      expired: [['X-Service-Key', expired]],
      'sent twice': [
        ['X-Service-Key', world.key],
        ['X-Service-Key', world.key],
      ],
      'a wrong one first': [
        ['X-Service-Key', 'wrong'],
        ['X-Service-Key', world.key],
      ],
      'a wrong one second': [
        ['x-service-key', world.key],
        ['X-Service-Key', 'wrong'],
      ],
      'in a list': [['X-Service-Key', `${world.key}, ${world.key}`]],
      oversized: [['X-Service-Key', world.key + 'A'.repeat(10_000)]],
      'only in Authorization': [['Authorization', `Bearer ${world.key}`]],
      'only in a cookie': [['Cookie', `X-Service-Key=${world.key}`]],
    };

    for (const target of [
      '/v1/flags?env=production',
      '/v1/flags/none?env=none',
      '/v1/stream?env=production',
    ]) {
      const answers = new Map<string, RawAnswer>();
      for (const [cause, headers] of Object.entries(causes))
        answers.set(cause, await world.raw(target, { headers }));
      expectAllAlike(answers);
    }

    const batches = new Map<string, RawAnswer>();
    for (const [cause, headers] of Object.entries(causes)) {
      const length = ['Content-Length', '0'] as const;
      batches.set(
        cause,
        await world.raw('/v1/flags/batch', { method: 'POST', headers: [...headers, length] }),
      );
    }
    expectAllAlike(batches);
  });
});

function expectAllAlike(answers: ReadonlyMap<string, RawAnswer>): void {
  const [reference] = answers.values();
  if (reference === undefined) throw new Error('no answers to compare');
  expectErrorText(reference, reference.text, 'invalid_api_key');
  for (const [cause, answer] of answers) {
    expect({ cause, ...comparable(answer) }).toEqual({ cause, ...comparable(reference) });
  }
}

/** The parts that must be the same: everything except the date and the request id. */
function comparable(answer: RawAnswer) {
  const headers = answer.rawHeaders.filter(
    ([name]) => !['date', 'x-request-id'].includes(name.toLowerCase()),
  );
  return { status: answer.status, reason: answer.reason, headers, body: answer.text };
}
