import { beginStream, frameOf, inTurn, openSilently, refuseBusy, serveNext, stall } from '../answers.ts';
import {
  type Answer,
  act,
  close,
  manyFlags,
  on,
  open,
  read,
  readMissing,
  readNumber,
  ready,
  type Scenario,
  status,
  steadyNumber,
  verdict,
} from '../scenario.ts';

/** Lists in lists. */
const nested = (depth: number): unknown => (depth === 0 ? 1 : [nested(depth - 1)]);

/** Members that are not flag states, by the name of its flag. */
const DAMAGED: Readonly<Record<string, unknown>> = {
  nothing: null,
  text: 'on',
  switch: true,
  list: [],
  empty: {},
  'enabled-text': { enabled: 'true', value: 1 },
  'enabled-null': { enabled: null, value: 1 },
  'rollout-text': { enabled: true, value: 1, rolloutPct: '50' },
  'rollout-null': { enabled: true, value: 1, rolloutPct: null },
  'rollout-negative': { enabled: true, value: 1, rolloutPct: -1 },
  'rollout-beyond': { enabled: true, value: 1, rolloutPct: 100.5 },
  'too-deep': { enabled: true, value: nested(70) },
};

/** Frames that are not maps. */
const NO_MAPS = [
  'data: {"a":{"enabled":true,"val\n\n',
  'data: [{"enabled":true}]\n\n',
  'data: null\n\n',
  'data: 7\n\n',
  frameOf({ error: 'internal_error', message: 'An error in the place of a map.' }),
];

/** Streams that each break in its own way after the first map, and then a good one, which the client follows. */
export const recovery = (broken: readonly Answer[]): Pick<Scenario, 'prepare' | 'steps' | 'acts'> => ({
  prepare: (run) => {
    run.onRest = stall;
    run.onStream = inTurn(...broken, serveNext);
  },
  steps: [
    open({ timeScale: 0.02 }),
    ready(),
    act('all-sent'),
    readNumber('a', 2, 5_000),
    status('ready'),
    close,
    verdict,
  ],
  acts: {
    'all-sent': (run) => run.until('a stream after each of them', () => run.streams.length > broken.length),
  },
});

/** What may be in a map. (C2.7 to C2.10) */
export const MAPS: readonly Scenario[] = [
  {
    name: 'damaged-flags-among-good-ones',
    clause: 'C2.7',
    sentence: 'A member that is not a flag state is left out, and holds back no other flag.',
    prepare: (run) => {
      run.flags = {
        a: on(1),
        ...DAMAGED,
        deep: { enabled: true, value: [nested(50)] },
        more: { enabled: true, value: 2, description: 'x', targeting: { rules: [] }, version: 3 },
      };
    },
    steps: [
      open(),
      ready(),
      readNumber('a', 1),
      readNumber('more', 2),
      read('deep', 'object', {}, { reason: 'STATIC', errorCode: null }),
      ...Object.keys(DAMAGED).map(readMissing),
      close,
      verdict,
    ],
    judge: (run) => (run.count('/v1/stream') === 1 ? [] : ['a damaged flag ended the stream']),
  },
  {
    name: 'frames-that-are-no-map',
    clause: 'C2.8',
    sentence: 'A frame that is not a map ends the stream; the map stays, and the next stream is followed.',
    ...recovery(
      NO_MAPS.map((text) => (exchange, run) => {
        openSilently(exchange, run);
        exchange.write(text);
      }),
    ),
  },
  {
    name: 'a-first-frame-that-is-no-map',
    clause: 'C2.8',
    sentence: 'A first frame that is not a map is a failure, and REST brings the flags.',
    prepare: (run) => {
      run.onStream = (exchange) => {
        beginStream(exchange, run);
        exchange.write(frameOf({ error: 'internal_error' }));
      };
    },
    steps: [open(), ready(), readNumber('a', 1), close, verdict],
  },
  {
    name: 'an-empty-environment',
    clause: 'C2.8',
    sentence: 'A map without flags is a map.',
    prepare: (run) => {
      run.flags = {};
    },
    steps: [
      open(),
      ready(),
      readMissing('a'),
      act('fill'),
      readNumber('a', 1, 5_000),
      act('empty'),
      {
        do: 'read',
        key: 'a',
        type: 'integer',
        default: -1,
        expect: { value: -1, errorCode: 'FLAG_NOT_FOUND' },
        withinMs: 5_000,
      },
      close,
      verdict,
    ],
    acts: { fill: (run) => run.publish({ a: on(1) }), empty: (run) => run.publish({}) },
  },
  {
    name: 'answers-of-rest-that-are-none',
    clause: 'C2.9',
    sentence:
      'An answer of REST that is not a map, or belongs to another environment, is refused until a good one comes.',
    prepare: (run) => {
      run.onStream = refuseBusy;
      run.onRest = inTurn(
        (exchange) => exchange.json(200, { environment: 'staging', flags: { a: on(99) } }),
        (exchange) => exchange.json(200, { flags: [on(99)] }),
        (exchange) => exchange.json(200, [1]),
        (exchange) => exchange.answer(200, '<html>sign in</html>', { 'Content-Type': 'text/html' }),
        (exchange) => exchange.answer(200, '{"flags":{"a":', { 'Content-Type': 'application/json' }),
        run.onRest,
      );
    },
    steps: [
      open({ timeScale: 0.01 }),
      status('failed'),
      readNumber('a', 1, 10_000),
      status('ready'),
      close,
      verdict,
    ],
  },
  {
    name: 'ten-thousand-flags',
    clause: 'C2.10',
    sentence: 'A map of several megabytes is taken, by the stream as by REST.',
    prepare: (run) => {
      run.flags = { a: on(1), ...manyFlags() };
    },
    steps: [
      open(),
      ready(),
      readNumber('a', 1),
      read('flag-9999', 'string', 'd', { value: `9999 ${'x'.repeat(300)}` }),
      act('change'),
      readNumber('a', 2, 8_000),
      close,
      verdict,
    ],
    acts: { change: (run) => run.publish({ ...run.flags, a: on(2) }) },
    judge: (run) => (run.count('/v1/stream') === 1 ? [] : ['the stream was not kept']),
  },
  {
    name: 'a-frame-without-an-end',
    clause: 'C2.10',
    sentence: 'A frame that has no end is given up, and what is there stays.',
    prepare: (run) => {
      run.onRest = stall;
      run.onStream = inTurn((exchange) => {
        openSilently(exchange, run);
        const piece = new Uint8Array(1024 * 1024).fill(0x78);
        exchange.write('data: ');
        for (let megabytes = 0; megabytes < 34; megabytes++) exchange.write(piece);
      }, serveNext);
    },
    steps: [
      open(),
      ready(),
      act('given-up', 25_000),
      readNumber('a', 2, 10_000),
      steadyNumber('a', 2, 50),
      close,
      verdict,
    ],
    acts: {
      'given-up': (run) => run.until('a second stream', () => run.streams.length === 2, 20_000),
    },
  },
];
