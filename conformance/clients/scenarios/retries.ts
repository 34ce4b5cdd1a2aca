import {
  beginStream,
  DOWN_AND_UP,
  frameOf,
  gapsOf,
  inTurn,
  move,
  refuseBusy,
  refuseForAnHour,
  resetAnswer,
  serveRest,
  serveStream,
  stall,
} from '../answers.ts';
import type { Exchange } from '../exchange.ts';
import type { Run } from '../run.ts';
import {
  act,
  close,
  event,
  on,
  open,
  readNumber,
  ready,
  type Scenario,
  status,
  steadyNumber,
  verdict,
} from '../scenario.ts';

const conditionalPolls = (run: Run) =>
  run.requests.filter(({ headers }) => headers.has('if-none-match')).length;

/** What a client does without a stream. (C2.11 to C2.13) */
export const RETRIES: readonly Scenario[] = [
  {
    name: 'polls-while-there-is-no-stream',
    clause: 'C2.11',
    sentence:
      'While streams are refused, REST is asked at intervals, with a condition, and brings the changes.',
    prepare: (run) => {
      run.onStream = refuseBusy;
    },
    steps: [
      open({ timeScale: 0.02 }),
      ready(),
      readNumber('a', 1),
      act('change'),
      readNumber('a', 2, 8_000),
      act('polled'),
      close,
      verdict,
    ],
    acts: {
      change: (run) => move(run, 2),
      polled: (run) => run.until('two polls with a condition', () => conditionalPolls(run) >= 2),
    },
    // 27 s, a tenth more or less, scaled; the first follows the stream's first failure.
    judge: (run) =>
      gapsOf(run, '/v1/flags').every((gap) => gap >= 250)
        ? []
        : [`polls are too close: ${gapsOf(run, '/v1/flags')}`],
  },
  {
    name: 'answers-that-nothing-has-changed',
    clause: 'C2.11',
    sentence: 'A 304 confirms the map: the client stays ready, and the next change is still noticed.',
    prepare: (run) => {
      run.onStream = refuseForAnHour;
    },
    steps: [
      open({ timeScale: 0.02 }),
      ready(),
      act('confirmed'),
      status('ready'),
      readNumber('a', 1),
      act('change'),
      readNumber('a', 2, 8_000),
      close,
      verdict,
    ],
    acts: {
      // Without a confirmation the map is stale after three polls.
      confirmed: (run) => run.until('four answers of 304', () => conditionalPolls(run) >= 5),
      change: (run) => move(run, 2),
    },
  },
  {
    name: 'rest-after-a-lost-stream',
    clause: 'C2.11',
    sentence: 'Five seconds after a live stream was lost, REST brings what the next stream does not.',
    steps: [
      open({ timeScale: 0.1 }),
      ready(),
      act('lose'),
      readNumber('a', 1),
      readNumber('a', 2, 5_000),
      close,
      verdict,
    ],
    acts: {
      lose: (run) => {
        move(run, 2);
        run.onStream = stall;
        run.stream.cut();
      },
    },
  },
  {
    name: 'a-stream-that-breaks',
    clause: 'C2.12',
    sentence: 'A stream that was reset is opened again, and brings what changed in between.',
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
      // REST stays away, so that the map can only come from the next stream.
      reset: (run) => {
        run.onRest = stall;
        run.flags = { ...run.flags, a: on(2) };
        run.revision = 2;
        run.stream.reset();
      },
      reopened: (run) => run.until('a second stream', () => run.streams.length === 2),
    },
  },
  {
    name: 'resets-without-end',
    clause: 'C2.12',
    sentence:
      'A server that resets every connection is asked again with growing pauses, and found when it is back.',
    prepare: (run) => {
      run.onStream = resetAnswer;
      run.onRest = resetAnswer;
      run.maxRequests = 40;
    },
    steps: [
      open({ timeScale: 0.05 }),
      status('failed'),
      event('ERROR'),
      act('wait'),
      act('heal'),
      status('ready'),
      event('READY'),
      readNumber('a', 1, 5_000),
      close,
      verdict,
    ],
    acts: {
      wait: () => Bun.sleep(800),
      heal: (run) => {
        run.onStream = serveStream;
        run.onRest = serveRest;
      },
    },
  },
  {
    name: 'a-server-that-is-away-at-the-start',
    clause: 'C2.12',
    sentence: 'Refused connections are tried again, and the client is ready once there is a server.',
    steps: [
      act('down'),
      open({ timeScale: 0.05 }),
      ready('failed'),
      event('ERROR'),
      act('up'),
      status('ready'),
      event('READY'),
      readNumber('a', 1, 5_000),
      close,
      verdict,
    ],
    acts: DOWN_AND_UP,
  },
  {
    name: 'a-server-that-is-killed-and-back',
    clause: 'C2.12',
    sentence: 'A server that goes and comes back with other flags is followed again.',
    steps: [
      open({ timeScale: 0.05 }),
      ready(),
      act('down'),
      steadyNumber('a', 1, 300),
      act('back'),
      readNumber('a', 2, 8_000),
      event('CONFIGURATION_CHANGED', ['a']),
      status('ready'),
      close,
      verdict,
    ],
    acts: {
      down: (run) => run.down(),
      back: async (run) => {
        move(run, 2);
        await run.up();
      },
    },
  },
  {
    name: 'half-answers',
    clause: 'C2.12',
    sentence:
      'An answer that ends in its head, in its body or in its first frame is a failure, and the next is asked for.',
    prepare: (run) => {
      const half = (bytes: string) => (exchange: Exchange) => {
        exchange.raw(bytes);
        exchange.cut();
      };
      run.onStream = inTurn(
        half('HTTP/1.1 200 OK\r\nContent-Ty'),
        half('SSH-2.0-OpenSSH_9\r\n'),
        (exchange) => {
          beginStream(exchange, run);
          exchange.write(frameOf({ a: on(99) }).slice(0, 20));
          exchange.cut();
        },
        serveStream,
      );
      run.onRest = inTurn(
        half(
          'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{"flags":{"a":',
        ),
        half('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n'),
        half(''),
        stall,
      );
    },
    steps: [open({ timeScale: 0.05 }), status('ready'), readNumber('a', 1, 5_000), close, verdict],
  },
  {
    name: 'a-reconnection-time-of-the-server',
    clause: 'C2.13',
    sentence: 'retry: sets the first delay, so that five streams in a row are opened in seconds.',
    prepare: (run) => {
      run.onStream = (exchange) => {
        beginStream(exchange, run);
        exchange.write(`retry: 100\n\n${frameOf(run.flags)}`);
        if (run.streams.length < 6) exchange.end();
      };
    },
    steps: [open(), ready(), act('six-streams'), readNumber('a', 1), close, verdict],
    // 3.1 s at most; 15 s on average without it.
    acts: { 'six-streams': (run) => run.until('six streams', () => run.streams.length === 6, 6_000) },
  },
];
