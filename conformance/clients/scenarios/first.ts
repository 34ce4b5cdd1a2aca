import { beginStream, frameOf, serveStream } from '../run.ts';
import {
  act,
  close,
  event,
  open,
  readNumber,
  ready,
  type Scenario,
  status,
  steadyNumber,
  verdict,
} from '../scenario.ts';

/** The five scenarios that a new language begins with. */
export const FIRST: readonly Scenario[] = [
  {
    name: 'a-good-stream',
    clause: 'C2.1',
    sentence: 'A client gets the map by the stream, and each change at once, without asking REST.',
    steps: [
      open(),
      ready(),
      event('READY'),
      readNumber('a', 1),
      act('change'),
      readNumber('a', 2, 5_000),
      event('CONFIGURATION_CHANGED', ['a']),
      status('ready'),
      close,
      verdict,
    ],
    acts: {
      change: (run) => run.publish({ ...run.flags, a: { enabled: true, value: 2 } }),
    },
    judge: (run) => [
      ...(run.count('/v1/stream') === 1 ? [] : [`${run.count('/v1/stream')} streams were asked for`]),
      ...(run.requests.every(({ headers }) => headers.get('accept')?.includes('text/event-stream'))
        ? []
        : ['a stream was asked for without Accept: text/event-stream']),
      ...(run.count('/v1/flags') === 0 ? [] : ['REST was asked beside a live stream']),
    ],
  },
  {
    name: 'a-refused-key',
    clause: 'C3.6',
    sentence: 'A key that is refused ends the first load with an error, and reads give defaults.',
    prepare: (run) => {
      run.onStream = (exchange) => exchange.refuse(401, 'invalid_api_key');
      run.onRest = run.onStream;
    },
    steps: [
      open(),
      ready('failed'),
      event('ERROR'),
      { do: 'read', key: 'a', type: 'integer', default: -1, expect: { value: -1, reason: 'ERROR' } },
      status('failed'),
      close,
      verdict,
    ],
    judge: (run) => (run.requests.length <= 3 ? [] : ['a refused key is tried without a pause']),
  },
  {
    name: 'a-stream-that-breaks',
    clause: 'C2.12',
    sentence: 'A stream that was reset is opened again, and brings what changed meanwhile.',
    steps: [
      open({ timeScale: 0.1 }),
      ready(),
      readNumber('a', 1),
      act('reset'),
      readNumber('a', 1),
      act('reopened'),
      readNumber('a', 2, 5_000),
      event('CONFIGURATION_CHANGED', ['a']),
      status('ready'),
      close,
      verdict,
    ],
    acts: {
      reset: (run) => {
        run.flags = { ...run.flags, a: { enabled: true, value: 2 } };
        run.revision = 2;
        run.stream.reset();
      },
      reopened: (run) => run.until('a second stream', () => run.streams.length === 2),
    },
  },
  {
    name: 'retry-after-on-the-stream',
    clause: 'C2.14',
    sentence: 'A stream that is refused with Retry-After leaves REST to the client at once.',
    prepare: (run) => {
      run.onStream = (exchange) => exchange.refuse(503, 'internal_error', { 'Retry-After': '3600' });
    },
    steps: [open(), ready(), readNumber('a', 1), steadyNumber('a', 1, 300), close, verdict],
    judge: (run) => (run.count('/v1/stream') === 1 ? [] : ['the stream was asked for before Retry-After']),
  },
  {
    name: 'a-frame-that-is-not-json',
    clause: 'C2.8',
    sentence: 'A frame that is not JSON ends the stream; the map stays, and the next stream is followed.',
    prepare: (run) => {
      run.onStream = (exchange) => {
        if (run.streams.length > 1) return serveStream(exchange, run);
        beginStream(exchange, run);
        exchange.write(frameOf(run.flags));
      };
    },
    steps: [
      open({ timeScale: 0.1 }),
      ready(),
      act('nonsense'),
      readNumber('a', 1),
      act('reopened'),
      readNumber('a', 3, 5_000),
      close,
      verdict,
    ],
    acts: {
      nonsense: (run) => {
        run.stream.write('data: {"a":{"enabled":true,"val\n\n');
        run.flags = { a: { enabled: true, value: 3 } };
        run.revision = 3;
      },
      reopened: (run) => run.until('a second stream', () => run.streams.length === 2),
    },
  },
];
