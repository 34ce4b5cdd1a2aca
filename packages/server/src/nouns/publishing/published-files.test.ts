import { expect, test } from 'bun:test';
import { flagdText, parsePointer, pointerText } from './published-files.ts';

async function flagd(state: string) {
  const text = await flagdText('production', { revision: 7, states: () => [['new"key', state]] });
  return JSON.parse(text).flags['new"key'];
}

const targeting = (on: number) => ({
  if: [
    { '===': [{ var: 'targetingKey' }, null] },
    'no targetingKey',
    { fractional: [{ cat: ['new"key:', { var: 'targetingKey' }] }, ['on', on], ['off', 100_000 - on]] },
  ],
});

test.each<[string, object | undefined]>([
  ['{"enabled":true}', { state: 'ENABLED', variants: { on: true, off: false }, defaultVariant: 'on' }],
  ['{"enabled":false}', { state: 'ENABLED', variants: { on: true, off: false }, defaultVariant: 'off' }],
  [
    '{"enabled":true,"value":false,"rolloutPct":0}',
    { state: 'ENABLED', variants: { on: false, off: false }, defaultVariant: 'off' },
  ],
  [
    '{"enabled":true,"rolloutPct":12.345}',
    {
      state: 'ENABLED',
      variants: { on: true, off: false },
      defaultVariant: 'off',
      targeting: targeting(12_345),
    },
  ],
  ['{"enabled":true,"value":"x"}', { state: 'ENABLED', variants: { on: 'x' }, defaultVariant: 'on' }],
  [
    '{"enabled":true,"value":[1],"rolloutPct":0}',
    { state: 'DISABLED', variants: { on: [1] }, defaultVariant: 'on' },
  ],
  [
    '{"enabled":true,"value":3,"rolloutPct":25}',
    { state: 'ENABLED', variants: { on: 3 }, defaultVariant: 'on', targeting: targeting(25_000) },
  ],
  ['{"enabled":true,"value":null}', undefined],
])('flagd gets of %s what its providers can read', async (state, flag) => {
  expect(await flagd(state)).toEqual(flag);
});

test('values keep the text in which they were written', async () => {
  const states = () => [['a', '{"enabled":true,"value":{"n":10.0,"big":12345678901234567890}}']] as const;
  expect(await flagdText('production', { revision: 1, states })).toContain(
    '{"on":{"n":10.0,"big":12345678901234567890}}',
  );
});

test('a pointer is read as it was written, and anything else is none', () => {
  const pointer = { environmentId: 'e', revision: 3, hash: 'h', publishedAt: 't', checkedAt: 't' };
  expect(parsePointer(pointerText(pointer))).toMatchObject(pointer);
  for (const text of ['', 'null', '[]', '{"version":2}', pointerText({ ...pointer, revision: 1.5 })])
    expect(parsePointer(text)).toBeUndefined();
});
