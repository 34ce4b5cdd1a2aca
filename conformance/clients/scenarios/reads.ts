import { isInRollout } from '@halyard/protocol';
import { serveStream, stall } from '../answers.ts';
import { act, close, on, open, read, readMissing, ready, type Scenario, verdict } from '../scenario.ts';

/** A flag and the half of a surrogate pair that is in its rollout only as U+FFFD, not as `?` and not left out. */
const SURROGATE_FLAG =
  Array.from({ length: 100 }, (_, at) => `half-${at}`).find(
    (key) => isInRollout(key, '\ufffd', 50) && !isInRollout(key, '?', 50) && !isInRollout(key, '', 50),
  ) ?? '';

/** What reads give. (C1, C4) */
export const READS: readonly Scenario[] = [
  {
    name: 'reads-before-the-first-map',
    clause: 'C1.1',
    sentence: 'A read before the first map gives the default at once, whatever the server does.',
    prepare: (run) => {
      run.onStream = stall;
      run.onRest = stall;
    },
    steps: [
      open(),
      read('a', 'integer', -1, { value: -1 }),
      read('b', 'string', 'd', { value: 'd' }),
      read('c', 'object', { x: 1 }, { value: { x: 1 } }),
      close,
      verdict,
    ],
  },
  {
    name: 'values-by-their-types',
    clause: 'C1.2',
    sentence: 'A value comes as it is to a read of its type, and is a mismatch to every other.',
    prepare: (run) => {
      run.flags = {
        yes: on(true),
        no: on(false),
        text: on('hello ⛵'),
        digits: on('42'),
        whole: on(42),
        half: on(1.5),
        big: on(9_007_199_254_740_991),
        record: on({ a: { b: [1, 'x', null] } }),
        list: on([1, 'x']),
      };
    },
    steps: [
      open(),
      ready(),
      read('yes', 'boolean', false, { value: true, reason: 'STATIC', variant: 'on', errorCode: null }),
      read('no', 'boolean', true, { value: false, reason: 'STATIC', variant: 'on', errorCode: null }),
      read('text', 'string', 'd', { value: 'hello ⛵', reason: 'STATIC', errorCode: null }),
      read('whole', 'integer', 1, { value: 42, errorCode: null }),
      read('whole', 'float', 1.5, { value: 42, errorCode: null }),
      read('half', 'float', 2.5, { value: 1.5, errorCode: null }),
      read('big', 'integer', 1, { value: 9_007_199_254_740_991, errorCode: null }),
      read('record', 'object', {}, { value: { a: { b: [1, 'x', null] } }, errorCode: null }),
      read('list', 'object', {}, { value: [1, 'x'], errorCode: null }),
      read('text', 'boolean', true, { value: true, reason: 'ERROR', errorCode: 'TYPE_MISMATCH' }),
      read('yes', 'integer', 7, { value: 7, reason: 'ERROR', errorCode: 'TYPE_MISMATCH' }),
      read('yes', 'string', 'd', { value: 'd', errorCode: 'TYPE_MISMATCH' }),
      read('digits', 'integer', 7, { value: 7, errorCode: 'TYPE_MISMATCH' }),
      read('digits', 'float', 0.5, { value: 0.5, errorCode: 'TYPE_MISMATCH' }),
      read('whole', 'string', 'd', { value: 'd', errorCode: 'TYPE_MISMATCH' }),
      read('whole', 'boolean', true, { value: true, errorCode: 'TYPE_MISMATCH' }),
      read('text', 'object', { d: 1 }, { value: { d: 1 }, errorCode: 'TYPE_MISMATCH' }),
      read('record', 'string', 'd', { value: 'd', errorCode: 'TYPE_MISMATCH' }),
      close,
      verdict,
    ],
  },
  {
    name: 'a-flag-without-a-value',
    clause: 'C1.3',
    sentence: 'A flag that is on and has no value is true, and only that.',
    prepare: (run) => {
      run.flags = { plain: { enabled: true } };
    },
    steps: [
      open(),
      ready(),
      read('plain', 'boolean', false, { value: true, reason: 'STATIC', errorCode: null }),
      read('plain', 'string', 'd', { value: 'd', errorCode: 'TYPE_MISMATCH' }),
      read('plain', 'integer', 3, { value: 3, errorCode: 'TYPE_MISMATCH' }),
      close,
      verdict,
    ],
  },
  {
    name: 'a-flag-that-is-off',
    clause: 'C1.4',
    sentence: 'A flag that is off is false to booleans and the default to all others, and no error.',
    prepare: (run) => {
      run.flags = { off: { enabled: false, value: true }, text: { enabled: false, value: 'x' } };
    },
    steps: [
      open(),
      ready(),
      read('off', 'boolean', true, { value: false, reason: 'DISABLED', variant: 'off', errorCode: null }),
      read('text', 'string', 'd', { value: 'd', reason: 'DISABLED', variant: 'off', errorCode: null }),
      read('text', 'boolean', true, { value: false, reason: 'DISABLED', errorCode: null }),
      read('off', 'integer', 4, { value: 4, reason: 'DISABLED', errorCode: null }),
      close,
      verdict,
    ],
  },
  {
    name: 'flags-that-are-not-there',
    clause: 'C1.5',
    sentence: 'A read before the first map and a read of a missing flag fail with different errors.',
    prepare: (run) => {
      run.onStream = async (exchange) => {
        await run.until('the map is let through', () => run.revision === 2);
        serveStream(exchange, run);
      };
      run.onRest = stall;
    },
    steps: [
      open(),
      read('a', 'integer', -1, { value: -1, errorCode: 'PROVIDER_NOT_READY' }),
      act('let-through'),
      ready(),
      readMissing('absent'),
      close,
      verdict,
    ],
    acts: {
      'let-through': (run) => {
        run.revision = 2;
      },
    },
  },
  {
    name: 'flags-with-any-name',
    clause: 'C1.7',
    sentence: 'Names of flags are only names.',
    prepare: (run) => {
      const names = ['__proto__', 'constructor', 'toString', 'a b', 'флаг', '🚩', '', 'a/b?c#d', 'null'];
      run.flags = Object.fromEntries(names.map((name, at) => [name, on(at)]));
    },
    steps: [
      open(),
      ready(),
      read('__proto__', 'integer', -1, { value: 0 }),
      read('constructor', 'integer', -1, { value: 1 }),
      read('a b', 'integer', -1, { value: 3 }),
      read('флаг', 'integer', -1, { value: 4 }),
      read('🚩', 'integer', -1, { value: 5 }),
      read('a/b?c#d', 'integer', -1, { value: 7 }),
      readMissing('hasOwnProperty'),
      readMissing('valueOf'),
      close,
      verdict,
    ],
  },
  {
    name: 'metadata-of-reads',
    clause: 'C1.8',
    sentence: 'A read says its environment, whether the flag is on, and the rollout.',
    prepare: (run) => {
      run.flags = { a: on(1), part: { enabled: true, value: 'x', rolloutPct: 0 } };
    },
    steps: [
      open(),
      ready(),
      read('a', 'integer', -1, { metadata: { environment: 'production', enabled: true } }),
      read('part', 'string', 'd', { metadata: { environment: 'production', enabled: true, rolloutPct: 0 } }),
      close,
      verdict,
    ],
  },
  {
    name: 'a-value-of-null',
    clause: 'C1.9',
    sentence: 'A value of null is not a boolean, a text or a number.',
    prepare: (run) => {
      run.flags = { nothing: on(null), a: on(1) };
    },
    steps: [
      open(),
      ready(),
      read('nothing', 'boolean', true, { value: true, errorCode: 'TYPE_MISMATCH' }),
      read('nothing', 'string', 'd', { value: 'd', errorCode: 'TYPE_MISMATCH' }),
      read('nothing', 'integer', 5, { value: 5, errorCode: 'TYPE_MISMATCH' }),
      read('a', 'integer', -1, { value: 1 }),
      close,
      verdict,
    ],
  },
  {
    name: 'the-published-buckets',
    clause: 'C4.1',
    sentence: 'A thousandth of a per cent decides about a target as the fixtures say.',
    prepare: (run) => {
      run.flags = { 'new-checkout': { enabled: true, value: 'new', rolloutPct: 51.93 } };
    },
    steps: [
      open(),
      ready(),
      read('new-checkout', 'string', 'd', { value: 'new', reason: 'SPLIT', variant: 'on' }, 'user-1'),
      read('new-checkout', 'string', 'd', { value: 'd', reason: 'SPLIT', variant: 'off' }, 'user-3'),
      act('narrow'),
      {
        do: 'read',
        key: 'new-checkout',
        type: 'string',
        default: 'd',
        targetingKey: 'user-1',
        expect: { value: 'd', reason: 'SPLIT', variant: 'off', errorCode: null },
        withinMs: 5_000,
      },
      close,
      verdict,
    ],
    acts: {
      narrow: (run) => run.publish({ 'new-checkout': { enabled: true, value: 'new', rolloutPct: 51.929 } }),
    },
  },
  {
    name: 'rollouts-without-a-targeting-key',
    clause: 'C4.3',
    sentence: 'Only a partial rollout needs to know for whom.',
    prepare: (run) => {
      run.flags = {
        none: { enabled: true, value: 'x', rolloutPct: 0 },
        part: { enabled: true, value: 'x', rolloutPct: 50 },
        bare: { enabled: true, rolloutPct: 0 },
        whole: { enabled: true, value: 'x', rolloutPct: 100 },
        off: { enabled: false, value: 'x', rolloutPct: 50 },
      };
    },
    steps: [
      open(),
      ready(),
      read('part', 'string', 'd', { value: 'd', reason: 'ERROR', errorCode: 'TARGETING_KEY_MISSING' }),
      read('none', 'string', 'd', { value: 'd', reason: 'SPLIT', variant: 'off', errorCode: null }),
      read('bare', 'boolean', true, { value: false, reason: 'SPLIT', variant: 'off', errorCode: null }),
      read('whole', 'string', 'd', { value: 'x', reason: 'STATIC', variant: 'on', errorCode: null }),
      read('off', 'string', 'd', { value: 'd', reason: 'DISABLED', variant: 'off', errorCode: null }),
      close,
      verdict,
    ],
  },
  {
    name: 'the-clients-own-targeting-key',
    clause: 'C4.4',
    sentence: 'A read without a targeting key uses the one of the client.',
    prepare: (run) => {
      run.flags = { 'new-checkout': { enabled: true, value: 'new', rolloutPct: 51.93 } };
    },
    steps: [
      open({ targetingKey: 'user-1' }),
      ready(),
      read('new-checkout', 'string', 'd', { value: 'new', reason: 'SPLIT' }),
      read('new-checkout', 'string', 'd', { value: 'd', reason: 'SPLIT' }, 'user-3'),
      close,
      verdict,
    ],
  },
  {
    name: 'half-of-a-letter',
    clause: 'C4.5',
    sentence: 'Half of a surrogate pair in a targeting key counts as U+FFFD, and disturbs nothing.',
    prepare: (run) => {
      run.flags = { [SURROGATE_FLAG]: { enabled: true, value: 'in', rolloutPct: 50 } };
    },
    steps: [
      open(),
      ready(),
      read(SURROGATE_FLAG, 'string', 'd', { value: 'in', reason: 'SPLIT' }, '\ufffd'),
      read(SURROGATE_FLAG, 'string', 'd', { value: 'in', reason: 'SPLIT' }, '\ud800'),
      close,
      verdict,
    ],
  },
];
