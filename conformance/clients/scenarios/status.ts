import {
  beginStream,
  DOWN_AND_UP,
  inTurn,
  refuseBusy,
  refuseForAnHour,
  refuseKey,
  serveRest,
  serveStream,
  stall,
} from '../answers.ts';
import type { Run } from '../run.ts';
import {
  act,
  close,
  event,
  on,
  open,
  read,
  readNumber,
  ready,
  type Scenario,
  status,
  steadyReason,
  verdict,
} from '../scenario.ts';

const few = (run: Run) => (run.requests.length <= 3 ? [] : ['a refused client asks without a pause']);

/** Status and events. (C1.6, C3) */
export const STATUS: readonly Scenario[] = [
  {
    name: 'reasons-of-a-stale-client',
    clause: 'C1.6',
    sentence: 'While the map may be out of date, flags that are on say so, and answer as before.',
    prepare: (run) => {
      run.flags = { a: on(1), off: { enabled: false } };
    },
    steps: [
      open({ timeScale: 0.02 }),
      ready(),
      read('a', 'integer', -1, { value: 1, reason: 'STATIC' }),
      act('down'),
      status('stale'),
      read('a', 'integer', -1, { value: 1, reason: 'STALE', variant: 'on', errorCode: null }),
      read('off', 'boolean', true, { value: false, reason: 'DISABLED' }),
      act('up'),
      status('ready'),
      read('a', 'integer', -1, { value: 1, reason: 'STATIC' }),
      close,
      verdict,
    ],
    acts: DOWN_AND_UP,
  },
  {
    name: 'the-life-of-a-status',
    clause: 'C3.1',
    sentence: 'connecting, failed, ready, stale, ready, closed.',
    prepare: (run) => {
      run.onStream = stall;
      run.onRest = stall;
    },
    steps: [
      open({ timeScale: 0.02 }),
      status('connecting'),
      status('failed'),
      act('heal'),
      status('ready'),
      act('down'),
      status('stale'),
      act('up'),
      status('ready'),
      close,
      status('closed'),
      verdict,
    ],
    acts: {
      heal: (run) => {
        run.onStream = serveStream;
        run.onRest = serveRest;
      },
      ...DOWN_AND_UP,
    },
  },
  {
    name: 'a-first-load-that-hangs',
    clause: 'C3.2',
    sentence: 'ready() comes back though nothing else does, and the client is ready once something comes.',
    prepare: (run) => {
      // Heads without bodies: no failure yet, and no map.
      run.onStream = (exchange) => beginStream(exchange, run);
      run.onRest = (exchange) => exchange.chunked(200, { 'Content-Type': 'application/json' });
    },
    steps: [
      open({ timeScale: 0.1 }),
      ready('timeout'),
      readNumber('a', -1),
      act('send'),
      readNumber('a', 1, 5_000),
      status('ready'),
      event('READY'),
      close,
      verdict,
    ],
    acts: { send: (run) => run.publish(run.flags) },
  },
  {
    name: 'rest-keeps-a-client-ready',
    clause: 'C3.3',
    sentence: 'A client whose stream stays away is not stale while REST answers.',
    steps: [
      open({ timeScale: 0.03 }),
      ready(),
      act('lose'),
      steadyReason('a', 1, 'STATIC', 2_000),
      status('ready'),
      close,
      verdict,
    ],
    acts: {
      lose: (run) => {
        run.onStream = refuseForAnHour;
        run.stream.end();
      },
    },
  },
  {
    name: 'stale-not-at-once',
    clause: 'C3.3',
    sentence: 'A connection that is lost makes a client stale after 30 s, not at once.',
    steps: [
      open({ timeScale: 0.05 }),
      ready(),
      act('down'),
      steadyReason('a', 1, 'STATIC', 1_000),
      status('stale'),
      close,
      verdict,
    ],
    acts: { down: (run) => run.down() },
  },
  {
    name: 'events-of-a-lost-connection',
    clause: 'C3.4',
    sentence: 'READY, STALE and READY again.',
    steps: [
      open({ timeScale: 0.02 }),
      ready(),
      event('READY'),
      act('down'),
      event('STALE'),
      act('up'),
      event('READY'),
      close,
      verdict,
    ],
    acts: DOWN_AND_UP,
  },
  {
    name: 'events-of-a-failed-start',
    clause: 'C3.4',
    sentence: 'ERROR, and READY once the cause has passed.',
    prepare: (run) => {
      run.onStream = inTurn(refuseBusy, refuseBusy, serveStream);
      run.onRest = inTurn(refuseBusy, stall);
    },
    steps: [
      open({ timeScale: 0.1 }),
      event('ERROR'),
      event('READY'),
      readNumber('a', 1, 5_000),
      close,
      verdict,
    ],
  },
  {
    name: 'keys-that-changed',
    clause: 'C3.5',
    sentence: 'A change names the flags that were added, changed or removed. The first map is not a change.',
    prepare: (run) => {
      run.flags = { a: on(1), b: on({ x: 1, y: [1, 2] }), c: on(1) };
    },
    steps: [
      open(),
      ready(),
      act('change'),
      event('CONFIGURATION_CHANGED', ['a', 'c', 'd']),
      act('same'),
      act('more'),
      event('CONFIGURATION_CHANGED', ['b']),
      close,
      verdict,
    ],
    acts: {
      change: (run) => run.publish({ a: on(2), b: on({ x: 1, y: [1, 2] }), d: on(1) }),
      same: (run) => run.publish({ d: { value: 1, enabled: true }, b: on({ y: [1, 2], x: 1 }), a: on(2) }),
      more: (run) => run.publish({ ...run.flags, b: on({ x: 1, y: [2, 1] }) }),
    },
  },
  {
    name: 'the-same-map-again',
    clause: 'C3.5',
    sentence: 'A stream that brings the map at hand again is not a change.',
    steps: [
      open({ timeScale: 0.05 }),
      ready(),
      act('again'),
      act('change'),
      event('CONFIGURATION_CHANGED', ['b']),
      close,
      verdict,
    ],
    acts: {
      again: async (run) => {
        run.stream.reset();
        await run.until('a second stream', () => run.openStreams.length === 1 && run.streams.length === 2);
      },
      change: (run) => run.publish({ ...run.flags, b: on('new') }),
    },
  },
  {
    name: 'a-refused-key',
    clause: 'C3.6',
    sentence: 'A key that is refused ends the first load with an error, and reads give defaults.',
    prepare: (run) => {
      run.onStream = refuseKey;
      run.onRest = run.onStream;
    },
    steps: [
      open(),
      ready('failed'),
      event('ERROR'),
      read('a', 'integer', -1, { value: -1, reason: 'ERROR', errorCode: 'PROVIDER_FATAL' }),
      status('failed'),
      close,
      verdict,
    ],
    judge: few,
  },
  {
    name: 'an-unknown-environment',
    clause: 'C3.6',
    sentence: 'An environment that the service does not know is refused like a key.',
    prepare: (run) => {
      run.onStream = (exchange) => exchange.refuse(404, 'environment_not_found');
      run.onRest = run.onStream;
    },
    steps: [
      open(),
      ready('failed'),
      event('ERROR'),
      read('a', 'integer', -1, { value: -1, errorCode: 'PROVIDER_FATAL' }),
      close,
      verdict,
    ],
    judge: few,
  },
  {
    name: 'a-refusal-that-passes',
    clause: 'C3.6',
    sentence: 'A provider whose key is restored becomes ready by itself.',
    prepare: (run) => {
      run.onStream = inTurn(refuseKey, serveStream);
      run.onRest = refuseKey;
    },
    steps: [
      open({ timeScale: 0.01 }),
      ready('failed'),
      event('ERROR'),
      event('READY'),
      readNumber('a', 1, 5_000),
      status('ready'),
      close,
      verdict,
    ],
  },
];
