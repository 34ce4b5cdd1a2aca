import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { openTestApp, type TestApp } from '../../management/api/test-app.ts';
import { ENGINES, type TestEngine } from '../../storage/test-engines.ts';

setDefaultTimeout(60_000);

describe.each(ENGINES)('flags on $name', (engine: TestEngine) => {
  let app: TestApp;
  beforeAll(async () => {
    app = await openTestApp(engine);
  });
  afterAll(() => app.close());

  test('a list gives previews of long values where they are asked for', async () => {
    const { path } = await app.project();
    // The cut falls into a character of two code units.
    const values = {
      long: `${'a'.repeat(62)}😀${'b'.repeat(300)}`,
      short: 'c'.repeat(254),
      other: 'é'.repeat(150),
    };
    for (const [key, value] of Object.entries(values)) {
      const states = { production: { enabled: true, value, rolloutPct: 5 }, staging: { enabled: false } };
      await app.call('POST', `${path}/flags`, { body: { key, states } });
    }
    const whole = (await app.call('GET', `${path}/flags`)).json.flags;
    expect((await app.call('GET', `${path}/flags?values=whole`)).json.flags).toEqual(whole);
    expect(whole[0].environments.production.state.value).toBe(values.long);

    const [long, other, short] = (await app.call('GET', `${path}/flags?values=preview`)).json.flags;
    const { production, staging } = long.environments;
    expect(production.state).toEqual({
      enabled: true,
      rolloutPct: 5,
      valuePreview: {
        start: `"${'a'.repeat(62)}`,
        bytes: 368,
        digest: expect.stringMatching(/^[0-9a-f]{16}$/),
      },
    });
    expect(staging).toEqual(whole[0].environments.staging);
    expect(other.environments.production.state.valuePreview).toMatchObject({ bytes: 302 });
    expect(short).toEqual(whole[2]);

    const states = `${path}/environments/production/flags`;
    const [listed] = (await app.call('GET', `${states}?values=preview&limit=1`)).json.flags;
    expect(listed).toEqual({ key: 'long', ...production });
    const refused = await app.call('PUT', `${states}/long`, { body: listed.state });
    expect([refused.status, refused.json.error]).toEqual([400, 'invalid_argument']);
  });

  test('a flag is created with its states, changed, and deleted everywhere', async () => {
    const { path } = await app.project();
    const body = {
      key: 'dark-mode',
      description: 'Night',
      tags: ['ui'],
      states: { production: { enabled: true, value: 1 }, staging: { enabled: false } },
    };
    const made = await app.call('POST', `${path}/flags`, { body });
    expect(made.status).toBe(201);
    expect(made.json).toMatchObject({ key: 'dark-mode', description: 'Night', tags: ['ui'] });
    expect(made.json.environments.production).toMatchObject({
      state: { enabled: true, value: 1 },
      revision: 1,
    });
    expect(Object.keys(made.json.environments)).toEqual(['staging', 'production']);
    expect((await app.call('POST', `${path}/flags`, { body })).json.error).toBe('already_exists');
    const patched = await app.call('PATCH', `${path}/flags/dark-mode`, { body: { tags: [] } });
    expect(patched.json).toMatchObject({ description: 'Night', tags: [] });
    const { seq, ...record } = patched.json;
    expect(seq).toBeGreaterThan(made.json.seq);
    expect((await app.call('GET', `${path}/flags/dark-mode`)).json).toEqual(record);
    const { detailsRevision, ...listed } = record;
    expect(detailsRevision).not.toBe(made.json.detailsRevision);
    expect((await app.call('GET', `${path}/flags`)).json.flags).toEqual([listed]);
    expect((await app.call('POST', `${path}/flags/dark-mode/archive`)).status).toBe(200);
    expect((await app.call('DELETE', `${path}/flags/dark-mode`)).status).toBe(200);
    expect((await app.call('GET', `${path}/flags`)).json.flags).toEqual([]);
    for (const [environment, revision] of [
      ['production', 2],
      ['staging', 2],
      ['development', 0],
    ] as const) {
      const states = await app.call('GET', `${path}/environments/${environment}/flags`);
      expect(states.json).toEqual({ environment, revision, flags: [] });
    }
    expect((await app.call('DELETE', `${path}/flags/dark-mode`)).json.error).toBe('flag_not_found');
  });

  test('named values keep their text, are reverted, and survive archiving, deletion and its revert', async () => {
    const { path } = await app.project();
    const textOf = async (key = 'banner') => (await app.call('GET', `${path}/flags/${key}`)).text;
    const first = '{"name":"control","value":{"n":10.0}}';
    const second = '{"name":"treatment","value":"green","description":"The new color"}';
    const body = `{"key":"banner","states":{"production":{"enabled":true,"value":{ "n" : 10.0 }}},"namedValues":[${first}, ${second}]}`;
    const made = await app.call('POST', `${path}/flags`, { body });
    expect([made.status, made.json.environments.production.valueName]).toEqual([201, 'control']);
    expect(await textOf()).toContain(`"namedValues":[${first},${second}]`);

    // Lists have the names of values, not the values.
    const listed = (await app.call('GET', `${path}/flags`)).json.flags[0];
    expect([listed.namedValues, listed.environments.production.valueName]).toEqual([undefined, 'control']);

    const revert = (seq: number) => app.call('POST', `/api/changes/${seq}/revert`, { body: {} });
    const changed = await app.call('PATCH', `${path}/flags/banner`, { body: `{"namedValues":[${second}]}` });
    expect(changed.json.environments.production.valueName).toBeUndefined();
    const reverted = await revert(changed.json.seq);
    expect(reverted.json.differences).toEqual([
      {
        key: 'banner',
        before: { namedValues: [JSON.parse(second)] },
        after: { namedValues: [JSON.parse(first), JSON.parse(second)] },
      },
    ]);
    expect(await textOf()).toContain(`"namedValues":[${first},${second}]`);

    await app.call('POST', `${path}/flags/banner/archive`);
    const deleted = await app.call('DELETE', `${path}/flags/banner`);
    expect((await revert(deleted.json.seq)).status).toBe(200);
    expect(await textOf()).toContain(`"namedValues":[${first},${second}]`);
  });

  test('named values of another kind are refused on every path, also when the kind changes', async () => {
    const { path } = await app.project();
    const namedValues = [{ name: 'five', value: 5 }];
    await app.call('POST', `${path}/flags`, { body: { key: 'limit', namedValues, valueKind: 'number' } });
    for (const [body, word] of [
      [{ valueKind: 'text' }, '"five", which is not a text'],
      [{ valueKind: 'none' }, 'only on or off'],
      [{ namedValues: [{ name: 'x', value: true }] }, 'not a number'],
      [{ namedValues: [namedValues[0], { name: 'five', value: 6 }] }, 'a second time'],
      [{ namedValues: [namedValues[0], { name: 'fünf', value: 5 }] }, 'the same value'],
      [{ namedValues: [{ name: ' x', value: 5 }] }, '1 to 64 characters'],
      [{ namedValues: [{ name: 'x' }] }, '"namedValues[0]"'],
      [{ namedValues: Array.from({ length: 51 }, (_, n) => ({ name: `n${n}`, value: n })) }, 'at most 50'],
    ] as const) {
      const { status, json } = await app.call('PATCH', `${path}/flags/limit`, { body });
      expect([status, json.error, json.message]).toEqual([
        400,
        'invalid_argument',
        expect.stringContaining(word),
      ]);
    }
    const long = { name: 'long', value: 'x'.repeat(40_000) };
    const both = {
      valueKind: 'any',
      namedValues: [long, { ...long, name: 'more', value: `y${long.value}` }],
    };
    expect((await app.call('PATCH', `${path}/flags/limit`, { body: both })).json.message).toContain(
      'at most 65536',
    );
    expect((await app.call('GET', `${path}/flags/limit`)).json).toMatchObject({
      namedValues,
      valueKind: 'number',
    });
  });

  test('a permanent mark and a kind of value are set, reverted, and survive deletion and its revert', async () => {
    const { path } = await app.project();
    const marksOf = async (key: string) => {
      const { permanent, valueKind } = (await app.call('GET', `${path}/flags/${key}`)).json;
      return [permanent, valueKind];
    };
    await app.call('POST', `${path}/flags`, { body: { key: 'kept', permanent: true, valueKind: 'number' } });
    await app.call('PUT', `${path}/environments/staging/flags/plain`, { body: { enabled: true } });
    expect([await marksOf('kept'), await marksOf('plain')]).toEqual([
      [true, 'number'],
      [false, 'any'],
    ]);
    const revert = (seq: number) => app.call('POST', `/api/changes/${seq}/revert`, { body: {} });
    const body = { permanent: true, valueKind: 'none' };
    const marked = await app.call('PATCH', `${path}/flags/plain`, { body });
    expect(await marksOf('plain')).toEqual([true, 'none']);
    await revert(marked.json.seq);
    expect(await marksOf('plain')).toEqual([false, 'any']);
    const deleted = await app.call('DELETE', `${path}/flags/kept?archive=true`);
    expect((await revert(deleted.json.seq)).status).toBe(200);
    expect(await marksOf('kept')).toEqual([true, 'number']);
  });

  test('lists the flags that have been the same everywhere since a time, also in pages, without permanent ones', async () => {
    const { path } = await app.project();
    const on = { enabled: true, value: 1 };
    const everywhere = { development: on, staging: on, production: on };
    for (const key of ['alike', 'marked', 'later'])
      await app.call('POST', `${path}/flags`, {
        body: { key, states: everywhere, permanent: key === 'marked' },
      });
    const others = {
      differs: { ...everywhere, staging: { enabled: false } },
      partly: { staging: on },
      nowhere: {},
    };
    for (const [key, states] of Object.entries(others))
      await app.call('POST', `${path}/flags`, { body: { key, states } });
    const stale = async (query = '') => {
      const time = '2100-01-01T00:00:00Z';
      const { json } = await app.call('GET', `${path}/flags?unchangedSince=${time}${query}`);
      return { keys: json.flags.map(({ key }: { key: string }) => key), next: json.next };
    };
    expect(await stale()).toEqual({ keys: ['alike', 'later', 'nowhere'], next: undefined });
    const first = await stale('&limit=2');
    expect(first.keys).toEqual(['alike', 'later']);
    expect((await stale(`&limit=2&cursor=${first.next}`)).keys).toEqual(['nowhere']);
    const before = '2000-01-01T00:00:00Z';
    expect((await app.call('GET', `${path}/flags?unchangedSince=${before}`)).json.flags).toEqual([]);
    expect((await app.call('GET', `${path}/flags?unchangedSince=yesterday`)).status).toBe(400);
  });

  test.each([
    [{ key: 'a b' }, 'cannot be a flag key'],
    [{ key: '__proto__' }, 'cannot be a flag key'],
    [{ key: 'a', tags: ['x', 'x'] }, 'contains a tag twice'],
    [{ key: 'a', tags: [' x'] }, 'a tag is'],
    [{ key: 'a', tags: 'x' }, '"tags" is not valid'],
    [{ key: 'a', valueKind: 'colour' }, '"valueKind" is not valid'],
    [{ key: 'a', description: 'x'.repeat(2001) }, 'at most 2000'],
    [{ key: 'a', description: 'a\0b' }, 'U+0000'],
    [{ key: 'a', description: 'a\ud800b' }, 'an unpaired surrogate'],
    [{ key: 'a', states: { production: { enabled: 'yes' } } }, '"states.production.enabled"'],
    [
      { key: 'a', states: { production: { enabled: true, rolloutPct: 101 } } },
      '"states.production.rolloutPct"',
    ],
  ])('the flag %j is refused', async (body, sentence) => {
    const { path } = await app.project();
    const { status, json } = await app.call('POST', `${path}/flags`, { body });
    expect([status, json.error]).toEqual([400, 'invalid_argument']);
    expect(json.message).toContain(sentence);
    expect((await app.call('GET', `${path}/flags`)).json.flags).toEqual([]);
  });

  test('one of several writers creates a flag, the others are refused', async () => {
    const { path } = await app.project();
    // Several rounds, because the connections of the first may still be opening one after another.
    for (const key of ['a', 'b', 'c', 'd', 'e']) {
      const making = Array.from({ length: 4 }, (_, index) =>
        app.call('POST', `${path}/flags`, { body: { key, description: String(index) } }),
      );
      const statuses = (await Promise.all(making)).map(({ status }) => status).sort();
      expect(statuses).toEqual([201, 409, 409, 409]);
    }
  });

  test('a missing environment leaves no partial flag', async () => {
    const { path } = await app.project();
    const body = { key: 'a', states: { production: { enabled: true }, moon: { enabled: true } } };
    expect((await app.call('POST', `${path}/flags`, { body })).json.error).toBe('environment_not_found');
    expect((await app.call('GET', `${path}/flags/a`)).json.error).toBe('flag_not_found');
  });
});
