import type { ChangeInput } from '@halyard/testing';
import rollout from '../conformance/fixtures/rollout.json' with { type: 'json' };
import type { Evaluation, EvaluationAnswer, ProviderProgram } from './protocol.ts';
import type { World } from './world.ts';

/** A flag whose value is written as a float, which JavaScript would write as an integer. */
export const WRITTEN_AS_FLOAT = { key: 'written-as-float', state: '{"enabled":true,"value":7.0}' } as const;

/** The other flags of the environment that the programs read. */
export const FLAGS: readonly ChangeInput[] = [
  { key: 'on', state: { enabled: true } },
  { key: 'off', state: { enabled: false } },
  { key: 'true', state: { enabled: true, value: true } },
  { key: 'false', state: { enabled: true, value: false } },
  { key: 'text', state: { enabled: true, value: 'Fair winds, ⛵ "sailor"' } },
  { key: 'empty-text', state: { enabled: true, value: '' } },
  { key: 'integer', state: { enabled: true, value: 42 } },
  { key: 'zero', state: { enabled: true, value: 0 } },
  { key: 'large-integer', state: { enabled: true, value: 2_000_000_000 } },
  { key: 'float', state: { enabled: true, value: -7.25 } },
  { key: 'object', state: { enabled: true, value: { limit: 10, tags: ['a', 'b'], deep: { on: true } } } },
  { key: 'array', state: { enabled: true, value: [1, 'two', true] } },
  { key: 'null', state: { enabled: true, value: null } },
  { key: 'text-off', state: { enabled: false, value: 'hidden' } },
  { key: 'integer-off', state: { enabled: false, value: 42 } },
  { key: 'object-off', state: { enabled: false, value: { limit: 10 } } },
  { key: 'half', state: { enabled: true, rolloutPct: 50 } },
  { key: 'half-text', state: { enabled: true, value: 'inside', rolloutPct: 50 } },
  { key: 'half-off', state: { enabled: false, rolloutPct: 50 } },
  { key: 'none', state: { enabled: true, rolloutPct: 0 } },
  { key: 'everyone', state: { enabled: true, rolloutPct: 100 } },
  { key: 'new-checkout', state: { enabled: true, rolloutPct: 51.93 } },
  { key: 'flag-a', state: { enabled: true, rolloutPct: 12.5 } },
  { key: 'Dots.and_lines-2', state: { enabled: true } },
  { key: 'changed', state: { enabled: true, value: 'before' } },
];

/** One read and what OpenFeature answers it, whatever the language. */
export interface Case {
  readonly name: string;
  /** What happens before the read. Default: nothing, on a connection with a good key. */
  readonly prepare?: (program: ProviderProgram, world: World) => Promise<void>;
  readonly read: Evaluation;
  readonly expected: EvaluationAnswer;
  /** Whether the server answers without a value, so that the default in the code counts. */
  readonly isCodeDefault?: true;
}

/** The expected error code where any will do: providers know only some of the reasons for which a request is refused. */
export const ANY_ERROR = 'ANY';

const ON = { reason: 'STATIC', variant: 'on' } as const;
const OFF = { reason: 'DISABLED', variant: 'off' } as const;
const OUTSIDE = { reason: 'SPLIT', variant: 'off' } as const;
const INSIDE = { reason: 'SPLIT', variant: 'on' } as const;

function read(
  type: Evaluation['type'],
  key: string,
  fallback: Evaluation['default'],
  targetingKey = 'user-1',
): Evaluation {
  return { type, key, default: fallback, targetingKey };
}

function failure(type: Evaluation['type'], key: string, fallback: Evaluation['default'], errorCode: string) {
  return { read: read(type, key, fallback), expected: { value: fallback, errorCode } };
}

/** The reads. `user-5` is outside of `half`, `user-6` outside of `half-text`; `user-4` is inside of both. */
export const CASES: readonly Case[] = [
  { name: 'on', read: read('boolean', 'on', false), expected: { value: true, ...ON } },
  { name: 'off', read: read('boolean', 'off', true), expected: { value: false, ...OFF } },
  { name: 'boolean true', read: read('boolean', 'true', false), expected: { value: true, ...ON } },
  { name: 'boolean false', read: read('boolean', 'false', true), expected: { value: false, ...ON } },
  {
    name: 'text',
    read: read('string', 'text', ''),
    expected: { value: 'Fair winds, ⛵ "sailor"', ...ON },
  },
  { name: 'empty text', read: read('string', 'empty-text', 'x'), expected: { value: '', ...ON } },
  { name: 'integer', read: read('integer', 'integer', 1), expected: { value: 42, ...ON } },
  { name: 'zero', read: read('integer', 'zero', 1), expected: { value: 0, ...ON } },
  {
    name: 'large integer',
    read: read('integer', 'large-integer', 1),
    expected: { value: 2_000_000_000, ...ON },
  },
  { name: 'float', read: read('float', 'float', 1.5), expected: { value: -7.25, ...ON } },
  {
    name: 'float without a fraction',
    read: read('float', 'written-as-float', 1.5),
    expected: { value: 7, ...ON },
  },
  { name: 'integer read as float', read: read('float', 'integer', 1.5), expected: { value: 42, ...ON } },
  {
    name: 'object',
    read: read('object', 'object', {}),
    expected: { value: { limit: 10, tags: ['a', 'b'], deep: { on: true } }, ...ON },
  },
  { name: 'array', read: read('object', 'array', []), expected: { value: [1, 'two', true], ...ON } },
  { name: 'null', read: read('object', 'null', {}), expected: { value: null, ...ON } },
  {
    name: 'text, off',
    read: read('string', 'text-off', 'default'),
    expected: { value: 'default', ...OFF },
    isCodeDefault: true,
  },
  {
    name: 'integer, off',
    read: read('integer', 'integer-off', 7),
    expected: { value: 7, ...OFF },
    isCodeDefault: true,
  },
  {
    name: 'object, off',
    read: read('object', 'object-off', { limit: 1 }),
    expected: { value: { limit: 1 }, ...OFF },
    isCodeDefault: true,
  },
  {
    name: 'outside of a rollout',
    read: read('boolean', 'half', true, 'user-5'),
    expected: { value: false, ...OUTSIDE },
  },
  {
    name: 'inside of a rollout',
    read: read('boolean', 'half', false, 'user-4'),
    expected: { value: true, ...INSIDE },
  },
  // The same user as in the case before: a page that holds its flags asks whether they have changed.
  {
    name: 'attributes beside the targeting key',
    read: {
      ...read('boolean', 'half', false, 'user-4'),
      attributes: { plan: 'gold', age: 42, isAdmin: true },
    },
    expected: { value: true, ...INSIDE },
  },
  {
    name: 'outside of a rollout with a value',
    read: read('string', 'half-text', 'default', 'user-6'),
    expected: { value: 'default', ...OUTSIDE },
    isCodeDefault: true,
  },
  {
    name: 'inside of a rollout with a value',
    read: read('string', 'half-text', 'default', 'user-4'),
    expected: { value: 'inside', ...INSIDE },
  },
  {
    name: 'a rollout that is off',
    read: read('boolean', 'half-off', true),
    expected: { value: false, ...OFF },
  },
  {
    name: 'a rollout of 0 %',
    read: read('boolean', 'none', true),
    expected: { value: false, ...OUTSIDE },
  },
  {
    name: 'a rollout of 100 %',
    read: read('boolean', 'everyone', false),
    expected: { value: true, ...ON },
  },
  {
    name: 'a key with dots and lines',
    read: read('boolean', 'Dots.and_lines-2', false),
    expected: { value: true, ...ON },
  },
  { name: 'a flag that does not exist', ...failure('boolean', 'missing', true, 'FLAG_NOT_FOUND') },
  { name: 'a key with a space', ...failure('boolean', 'has space', true, 'FLAG_NOT_FOUND') },
  { name: 'a key that is not ASCII', ...failure('boolean', 'größe-⛵', true, 'FLAG_NOT_FOUND') },
  // Most providers put keys into the address as they are. A question mark cuts them; no flag has one in its key.
  { name: 'a key with a slash', ...failure('boolean', 'on/half', true, ANY_ERROR) },
  { name: 'a key with a percent sign', ...failure('boolean', '100%', true, ANY_ERROR) },
  { name: 'a key of two dots', ...failure('boolean', '..', true, ANY_ERROR) },
  { name: 'an empty key', ...failure('boolean', '', true, ANY_ERROR) },
  { name: 'a text read as boolean', ...failure('boolean', 'text', true, 'TYPE_MISMATCH') },
  { name: 'a switch read as text', ...failure('string', 'on', 'default', 'TYPE_MISMATCH') },
  { name: 'a number read as text', ...failure('string', 'integer', 'default', 'TYPE_MISMATCH') },
  { name: 'a text read as number', ...failure('integer', 'text', 7, 'TYPE_MISMATCH') },
  { name: 'a text read as object', ...failure('object', 'text', {}, 'TYPE_MISMATCH') },
];

/** Reads without a targeting key. */
export const UNTARGETED: readonly Case[] = [
  {
    name: 'a partial rollout without targeting key',
    read: { type: 'boolean', key: 'half', default: true },
    expected: { value: true, errorCode: 'TARGETING_KEY_MISSING' },
  },
  {
    name: 'a rollout of 0 % without targeting key',
    read: { type: 'boolean', key: 'none', default: true },
    expected: { value: false, ...OUTSIDE },
  },
  {
    name: 'a flag that is on, without targeting key',
    read: { type: 'boolean', key: 'on', default: false },
    expected: { value: true, ...ON },
  },
];

/** The ways in which a provider may give the key and the environment. */
export const CONNECTIONS: readonly Case[] = [
  connection('the key in X-API-Key', ({ base, key }) => [base, { 'X-API-Key': key }]),
  connection('the key as a bearer token', ({ base, key }) => [base, { Authorization: `Bearer ${key}` }]),
  connection('the key in X-Service-Key', ({ base, key }) => [base, { 'X-Service-Key': key }]),
  connection('the environment in a header', ({ url, key }) => [
    url,
    { 'X-API-Key': key, 'X-Flags-Environment': 'production' },
  ]),
  connection('a key of one environment, which need not be named', ({ url, keyOfOne }) => [
    url,
    { 'X-API-Key': keyOfOne },
  ]),
  refusal('a key of two environments, of which none is named', ({ url, key }) => [url, { 'X-API-Key': key }]),
  refusal('a wrong key', ({ base, key }) => [base, { 'X-API-Key': `${key.slice(0, -1)}!` }]),
  refusal('another environment than the key’s', ({ url, keyOfOne }) => [
    `${url}/environments/development`,
    { 'X-API-Key': keyOfOne },
  ]),
];

type Address = readonly [url: string, headers: Readonly<Record<string, string>>];

function connection(name: string, address: (world: World) => Address): Case {
  return {
    name,
    prepare: (program, world) => program.connect(...address(world)),
    read: read('boolean', 'on', false),
    expected: { value: true, ...ON },
  };
}

function refusal(name: string, address: (world: World) => Address): Case {
  return { ...connection(name, address), expected: { value: false, errorCode: ANY_ERROR } };
}

/** 1,000 targeting keys: those of the fixture, then `user-…`. The empty one counts as absent for some providers. */
export const TARGETS: readonly string[] = [
  ...new Set([
    ...rollout.buckets.map(({ targetingKey }) => targetingKey),
    ...Array.from({ length: 1_100 }, (_, index) => `user-${index}`),
  ]),
]
  .filter((target) => target !== '')
  .slice(0, 1_000);

/** The flags that are read for all targets. */
export const ROLLOUTS = ['new-checkout', 'flag-a'] as const;

/** What happens while a provider is in use. The last one ends its key. */
export const CHANGES: readonly Case[] = [
  {
    name: 'a changed flag',
    prepare: async (program, { management }) => {
      const before = await program.evaluate(read('string', 'changed', ''));
      if (before.value !== 'before') throw new Error(`the flag was ${JSON.stringify(before)}`);
      await management.putState('interop', 'production', 'changed', { enabled: true, value: 'after' });
    },
    read: read('string', 'changed', ''),
    expected: { value: 'after', ...ON },
  },
  {
    name: 'a revoked key',
    prepare: async (program, { base, management }) => {
      const { id, key } = await management.createKey('interop', ['production']);
      await program.connect(base, { 'X-API-Key': key });
      const before = await program.evaluate(read('boolean', 'on', false));
      if (before.value !== true) throw new Error(`the flag was ${JSON.stringify(before)}`);
      await management.revokeKey(id);
    },
    // For another user: web providers keep the flags of the last one.
    read: read('boolean', 'on', false, 'user-2'),
    expected: { value: false, errorCode: ANY_ERROR },
  },
];
