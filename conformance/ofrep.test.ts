import { expect, test } from 'bun:test';
import { FLAG_KEY_PATTERN, rolloutBucket } from '@halyard/protocol';
import evaluation from './fixtures/evaluation.json';
import rollout from './fixtures/rollout.json';
import { conformance } from './subject.ts';
import { World } from './world.ts';

/** The body of a request for a target. */
function bodyFor(targetingKey: string | undefined): string {
  return JSON.stringify({ context: { targetingKey, plan: 'gold' } });
}

/** Evaluates one flag. */
async function evaluateOne(
  world: World,
  flagKey: string,
  targetingKey?: string,
  environment = 'production',
): Promise<Response> {
  const path = `/environments/${environment}/ofrep/v1/evaluate/flags/${encodeURIComponent(flagKey)}`;
  return await world.fetch(path, { method: 'POST', body: bodyFor(targetingKey) });
}

/** What a case of the table answers, written out. */
function answerOf({ flagKey, state, expected: { ofrep } }: (typeof evaluation.cases)[number]): object {
  const { enabled, rolloutPct } = state ?? {};
  const metadata = { environment: 'production', enabled, rolloutPct };
  if (ofrep.errorCode === undefined) return { key: flagKey, metadata, ...ofrep };
  return { key: flagKey, errorDetails: expect.any(String), ...(state && { metadata }), ...ofrep };
}

const STATUS: Record<string, number> = { TARGETING_KEY_MISSING: 400, FLAG_NOT_FOUND: 404 };

conformance('15. OFREP', (subject) => {
  test('S15.1 S15.4 S15.5 S15.6 a flag answers as the table of evaluations says', async () => {
    const world = await World.make(subject(), {});
    const cases = evaluation.cases.filter(({ flagKey, state }) => !state || FLAG_KEY_PATTERN.test(flagKey));
    expect(cases.length).toBeGreaterThan(100);
    for (const each of cases) {
      const { name, flagKey, state, targetingKey, expected } = each;
      if (state) await world.put(flagKey, state);
      // Nothing is written to the other environment.
      const answer = await evaluateOne(world, flagKey, targetingKey, state ? 'production' : 'staging');
      const status = STATUS[expected.ofrep.errorCode ?? ''] ?? 200;
      expect({ name, status: answer.status, body: await answer.json() }).toEqual({
        name,
        status,
        body: answerOf(each),
      });
      expect(answer.headers.get('Content-Type')).toBe('application/json');
    }
  });

  test('S15.4 a rollout includes the buckets below its percentage', async () => {
    const world = await World.make(subject(), {});
    const cases = rollout.buckets.filter(({ flagKey }) => FLAG_KEY_PATTERN.test(flagKey));
    expect(cases.length).toBeGreaterThan(8);
    for (const { flagKey, targetingKey, bucket } of cases) {
      expect(rolloutBucket(flagKey, targetingKey)).toBe(bucket);
      for (const [variant, rolloutPct] of [
        ['off', bucket / 1000],
        ['on', (bucket + 1) / 1000],
      ] as const) {
        await world.put(flagKey, { enabled: true, rolloutPct });
        const answer = await (await evaluateOne(world, flagKey, targetingKey)).json();
        expect(answer).toMatchObject({ reason: 'SPLIT', variant, value: variant === 'on' });
      }
    }
  });

  test('S15.5 a value travels as it was written', async () => {
    const world = await World.make(subject());
    for (const value of [
      '1.0',
      '-0',
      '1e2',
      '12345678901234567890',
      '"\\u00e9\\/"',
      '{"b":1.50,"a":[]}',
      'null',
    ]) {
      await world.putText('written', `{"enabled":true,"value":${value}}`);
      const text = await (await evaluateOne(world, 'written')).text();
      expect(text).toContain(`"value":${value}`);
      expect(text).toEndWith('}');
    }
  });

  test('S15.2 the key comes in any of three headers, and in several only if they agree', async () => {
    const world = await World.make(subject(), { a: { enabled: true } });
    const other = await world.management.createKey(world.project, ['production']);
    const ask = async (headers: Record<string, string>) => {
      const url = `${world.url}/environments/production/ofrep/v1/evaluate/flags/a`;
      return await fetch(url, { method: 'POST', body: '{}', headers });
    };
    const { key } = world;
    for (const headers of [
      { 'X-Service-Key': key },
      { 'X-API-Key': key },
      { Authorization: `Bearer ${key}` },
      { Authorization: `bearer ${key}` },
      { Authorization: `Bearer ${key}`, 'X-API-Key': key, 'X-Service-Key': key },
      // What a proxy in front asked for is no key.
      { Authorization: 'Basic dXNlcjpwYXNz', 'X-API-Key': key },
    ])
      expect([headers, (await ask(headers)).status]).toEqual([headers, 200]);
    for (const headers of [
      {},
      { Authorization: key },
      { Authorization: 'Bearer ' },
      { 'X-API-Key': 'nonsense' },
      { 'X-API-Key': key, 'X-Service-Key': other.key },
      { Authorization: `Bearer ${other.key}`, 'X-Service-Key': key },
      { Authorization: `Bearer ${key}`, 'X-API-Key': '' },
      { Authorization: `Bearer ${key}`, 'X-API-Key': 'nonsense' },
    ] as Record<string, string>[]) {
      const answer = await ask(headers);
      expect([headers, answer.status]).toEqual([headers, 401]);
      expect(await answer.json()).toMatchObject({ error: 'invalid_api_key', errorCode: 'GENERAL', key: 'a' });
    }
  });

  test('S15.3 the environment comes from the address, a header, or the key', async () => {
    const world = await World.make(subject(), { a: { enabled: true } });
    const { key: single } = await world.management.createKey(world.project, ['production']);
    const ask = async (prefix: string, headers: Record<string, string>) =>
      await world.fetch(`${prefix}/ofrep/v1/evaluate/flags/a`, { method: 'POST', body: '{}', headers });
    const inProduction = { metadata: { environment: 'production' } };
    for (const answer of [
      await ask('/environments/production', {}),
      await ask('', { 'X-Flags-Environment': 'production' }),
      await ask('', { 'X-Service-Key': single }),
      await ask('', { 'X-Service-Key': single, 'X-Flags-Environment': '' }),
      // The address is the more visible of the two.
      await ask('/environments/production', { 'X-Flags-Environment': 'staging' }),
    ])
      expect(await answer.json()).toMatchObject(inProduction);

    const unnamed = await ask('', {});
    expect(unnamed.status).toBe(400);
    const { errorDetails, ...body } = (await unnamed.json()) as { errorDetails: string };
    expect(body).toEqual({ key: 'a', errorCode: 'GENERAL' } as never);
    expect(errorDetails).toContain('/environments/');
    expect(errorDetails).toContain('X-Flags-Environment');

    for (const answer of [
      await ask('/environments/nowhere', {}),
      await ask('/environments/staging', { 'X-Service-Key': single }),
      await ask('', { 'X-Flags-Environment': 'nowhere' }),
    ]) {
      expect(answer.status).toBe(404);
      expect(await answer.json()).toMatchObject({ error: 'environment_not_found', errorCode: 'GENERAL' });
    }
  });
});
