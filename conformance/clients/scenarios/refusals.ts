import {
  gapsOf,
  inTurn,
  move,
  refuseBusy,
  refuseForAnHour,
  refuseKey,
  restAsked,
  serveStream,
  stall,
} from '../answers.ts';
import type { Exchange } from '../exchange.ts';
import {
  act,
  close,
  on,
  open,
  readNumber,
  ready,
  type Scenario,
  status,
  steadyNumber,
  steadyReason,
  verdict,
} from '../scenario.ts';

/** What servers refuse, and for how long. (C2.14 to C2.16) */
export const REFUSALS: readonly Scenario[] = [
  {
    name: 'retry-after-on-the-stream',
    clause: 'C2.14',
    sentence: 'A stream that is refused with Retry-After leaves REST to the client at once.',
    prepare: (run) => {
      run.onStream = refuseForAnHour;
    },
    steps: [open(), ready(), readNumber('a', 1), steadyReason('a', 1, 'STATIC', 300), close, verdict],
    judge: (run) => (run.count('/v1/stream') === 1 ? [] : ['the stream was asked for before Retry-After']),
  },
  {
    name: 'retry-after-as-a-date',
    clause: 'C2.14',
    sentence: 'Retry-After may be a date.',
    prepare: (run) => {
      run.onStream = (exchange) =>
        exchange.refuse(429, 'rate_limited', {
          'Retry-After': new Date(Date.now() + 3_500_000).toUTCString(),
        });
    },
    steps: [
      open({ timeScale: 0.05 }),
      ready(),
      readNumber('a', 1),
      steadyNumber('a', 1, 600),
      close,
      verdict,
    ],
    judge: (run) => (run.count('/v1/stream') === 1 ? [] : ['the stream was asked for before Retry-After']),
  },
  {
    name: 'retry-after-that-is-nonsense',
    clause: 'C2.14',
    sentence: 'A Retry-After that cannot be read counts as none.',
    prepare: (run) => {
      run.onStream = inTurn(
        (exchange) => exchange.refuse(503, 'internal_error', { 'Retry-After': 'soon' }),
        (exchange) => exchange.refuse(503, 'internal_error', { 'Retry-After': '-5' }),
        serveStream,
      );
      run.onRest = stall;
    },
    steps: [open({ timeScale: 0.1 }), status('ready'), readNumber('a', 1, 5_000), close, verdict],
  },
  {
    name: 'retry-after-is-waited-for',
    clause: 'C2.14',
    sentence: 'A stream comes back once its Retry-After is over, and not before.',
    prepare: (run) => {
      run.onStream = inTurn(
        (exchange) => exchange.refuse(503, 'internal_error', { 'Retry-After': '2' }),
        serveStream,
      );
    },
    steps: [open({ timeScale: 0.1 }), ready(), act('opened'), close, verdict],
    acts: { opened: (run) => run.until('the stream after Retry-After', () => run.openStreams.length === 1) },
    // The server's own seconds may be scaled too.
    judge: (run) => (gapsOf(run, '/v1/stream').every((gap) => gap >= 150) ? [] : ['it did not wait']),
  },
  {
    name: 'retry-after-on-rest',
    clause: 'C2.14',
    sentence: 'REST that asks to be left alone does not delay the stream.',
    prepare: (run) => {
      run.onStream = inTurn(refuseBusy, refuseBusy, refuseBusy, serveStream);
      run.onRest = (exchange) => exchange.refuse(429, 'rate_limited', { 'Retry-After': '3600' });
    },
    steps: [open({ timeScale: 0.05 }), status('ready'), readNumber('a', 1, 5_000), close, verdict],
    judge: (run) => (run.count('/v1/flags') <= 1 ? [] : ['REST was asked before its Retry-After']),
  },
  {
    name: 'rest-that-asks-for-a-pause',
    clause: 'C2.14',
    sentence: 'REST is left alone for as long as it asks, also when its next poll is due before.',
    prepare: (run) => {
      run.onStream = refuseForAnHour;
      run.onRest = refuseForAnHour;
    },
    // Polls would come after 0.9 s, a tenth more or less.
    steps: [
      open({ timeScale: 0.03, bootstrap: { a: on(1) } }),
      act('refused'),
      readNumber('a', 1, 5_000),
      steadyNumber('a', 1, 1_300),
      close,
      verdict,
    ],
    acts: { refused: restAsked },
    judge: (run) => (run.count('/v1/flags') === 1 ? [] : ['REST was asked before its Retry-After']),
  },
  {
    name: 'a-key-that-is-revoked-and-restored',
    clause: 'C2.15',
    sentence:
      'After a refusal the map stays, the stream is tried again after a minute, and taken when it is back.',
    steps: [
      open({ timeScale: 0.03 }),
      ready(),
      act('revoke'),
      act('refused'),
      steadyNumber('a', 1, 300),
      act('restore'),
      readNumber('a', 2, 8_000),
      status('ready'),
      close,
      verdict,
    ],
    acts: {
      revoke: (run) => {
        run.onStream = refuseKey;
        run.onRest = run.onStream;
        run.stream.end();
      },
      refused: (run) => run.until('the refused stream', () => run.streams.length === 2),
      restore: (run) => {
        move(run, 2);
        run.onStream = serveStream;
      },
    },
    // From the refusal to the next stream: half of a minute at least, scaled.
    judge: (run) => {
      const gap = gapsOf(run, '/v1/stream')[1] ?? 0;
      return gap >= 1_200 ? [] : [`the stream was tried again ${Math.round(gap)} ms after the refusal`];
    },
  },
  {
    name: 'answers-that-are-failures',
    clause: 'C2.16',
    sentence:
      'Every other status is a failure that may pass: the flags stay, and the next stream is followed.',
    prepare: (run) => {
      run.onRest = (exchange) => exchange.refuse(403, 'forbidden');
    },
    steps: [
      open({ timeScale: 0.02 }),
      ready(),
      act('fail'),
      act('healed'),
      readNumber('a', 2, 5_000),
      status('ready'),
      close,
      verdict,
    ],
    acts: {
      fail: (run) => {
        const failures = [204, 304, 400, 403, 404, 429, 500, 503].map(
          (code) => (exchange: Exchange) => exchange.answer(code, code === 404 ? '<html>' : 'no'),
        );
        run.onStream = inTurn(...failures, serveStream);
        move(run, 2);
        run.stream.end();
      },
      healed: (run) => run.until('a good stream', () => run.streams.length === 10),
    },
  },
];
