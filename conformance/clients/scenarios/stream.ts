import {
  beginStream,
  frameOf,
  inTurn,
  keepAlive,
  openSilently,
  restAsked,
  stall,
  wrongStreams,
} from '../answers.ts';
import type { Run } from '../run.ts';
import {
  act,
  close,
  event,
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

/** A stream without heartbeats whose body is `bytes`, after a head that promises revision 1. */
const streamOf = (bytes: (string | Uint8Array)[]) => (run: Run) => {
  run.onStream = (exchange) => {
    beginStream(exchange, run);
    for (const piece of bytes) exchange.write(piece);
  };
};

const isAlone = (run: Run) => [
  ...wrongStreams(run, 1),
  ...(run.count('/v1/flags') === 0 ? [] : ['REST was asked beside a live stream']),
];

/** How a stream is read. (C2.1 to C2.6) */
export const STREAM: readonly Scenario[] = [
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
      change: (run) => run.publish({ ...run.flags, a: on(2) }),
    },
    judge: (run) => [
      ...isAlone(run),
      ...(run.requests.every(({ headers }) => headers.get('accept')?.includes('text/event-stream'))
        ? []
        : ['a stream was asked for without Accept: text/event-stream']),
    ],
  },
  {
    name: 'a-flood-of-frames',
    clause: 'C2.1',
    sentence: 'Of a thousand frames at once the last one counts, on the same stream.',
    steps: [
      open(),
      ready(),
      act('flood'),
      readNumber('a', 1_000),
      steadyNumber('a', 1_000, 100),
      close,
      verdict,
    ],
    acts: {
      flood: async (run) => {
        for (let value = 1; value <= 1_000; value++) run.publish({ ...run.flags, a: on(value) });
        await Bun.sleep(1_500);
      },
    },
    judge: isAlone,
  },
  {
    name: 'no-event-stream',
    clause: 'C2.2',
    sentence: 'An answer of another content type is not a stream, and REST brings the flags.',
    prepare: (run) => {
      run.onStream = (exchange) =>
        exchange.answer(200, frameOf({ a: on(99) }), {
          'Content-Type': 'text/html',
          'X-Flags-Revision': '9',
        });
    },
    steps: [open(), ready(), readNumber('a', 1), close, verdict],
  },
  {
    name: 'a-content-type-with-parameters',
    clause: 'C2.2',
    sentence: 'Case and parameters of the content type do not matter.',
    prepare: (run) => {
      run.onStream = (exchange) => {
        beginStream(exchange, run, { 'Content-Type': 'Text/Event-Stream ; charset=UTF-8' });
        exchange.write(frameOf(run.flags));
      };
    },
    steps: [open(), ready(), readNumber('a', 1), close, verdict],
    judge: isAlone,
  },
  {
    name: 'frames-byte-by-byte',
    clause: 'C2.3',
    sentence: 'Where the bytes are cut does not matter, not even within a letter.',
    prepare: streamOf(
      [...new TextEncoder().encode(frameOf({ a: on(1), t: on('Ж中🚩') }))].map((byte) => Uint8Array.of(byte)),
    ),
    steps: [
      open(),
      ready(),
      readNumber('a', 1),
      read('t', 'string', 'd', { value: 'Ж中🚩' }),
      close,
      verdict,
    ],
    judge: isAlone,
  },
  {
    name: 'line-ends-and-a-byte-order-mark',
    clause: 'C2.3',
    sentence: 'CR, LF and CRLF end lines, and one byte order mark at the start is skipped.',
    prepare: streamOf(['\ufeffdata: {"a":\r', '\ndata:{"enabled":true,\rdata: "value":1}}\n', '\r\n']),
    steps: [open(), ready(), readNumber('a', 1), act('more'), readNumber('a', 3, 5_000), close, verdict],
    acts: {
      more: (run) => {
        run.stream.write('data: {"a":{"enabled":true,"value":2}}\r\r');
        run.stream.write('data: {"a":{"enabled":true,"value":3}}\r\n\r\n');
      },
    },
    judge: isAlone,
  },
  {
    name: 'what-is-no-frame',
    clause: 'C2.3',
    sentence: 'Comments, unknown fields, ids, empty events and events with a name are not frames.',
    prepare: streamOf([
      ': hello\n:\n\n\n\n',
      'event: other\ndata: {"a":{"enabled":true,"value":99}}\n\n',
      'id: 7\nfield: x\nfield\nretry: soon\n\n',
      'datas: {"a":{"enabled":true,"value":98}}\n\n',
      'event: message\ndata: {"a":{"enabled":true,"value":1}}\nid: 8\n\n',
      'event: later\ndata: nonsense\n\n',
    ]),
    steps: [open(), ready(), readNumber('a', 1), steadyNumber('a', 1, 100), close, verdict],
    judge: isAlone,
  },
  {
    name: 'a-frame-cut-by-the-end',
    clause: 'C2.3',
    sentence: 'A frame that the end of the stream cuts off is dropped, even if its JSON is whole.',
    prepare: (run) => {
      run.onStream = inTurn((exchange) => {
        openSilently(exchange, run);
        exchange.write('data: {"a":{"enabled":true,"value":99}}\n');
        exchange.end();
      }, stall);
      run.onRest = stall;
    },
    steps: [open(), ready(), act('asked-again'), steadyNumber('a', 1, 100), close, verdict],
    acts: { 'asked-again': (run) => run.until('a second stream', () => run.streams.length === 2) },
  },
  {
    name: 'bytes-that-are-not-utf-8',
    clause: 'C2.4',
    sentence: 'Bytes that are not UTF-8 become U+FFFD, and the stream continues.',
    prepare: streamOf([
      'data: {"a":{"enabled":true,"value":1},"t":{"enabled":true,"value":"x',
      Uint8Array.of(0xff),
      'y"}}\n\n',
    ]),
    steps: [
      open(),
      ready(),
      read('t', 'string', 'd', { value: 'x\ufffdy' }),
      act('change'),
      readNumber('a', 2, 5_000),
      close,
      verdict,
    ],
    acts: { change: (run) => run.publish({ a: on(2) }) },
    judge: isAlone,
  },
  {
    name: 'a-revision-that-is-no-number',
    clause: 'C2.5',
    sentence: 'A revision that cannot be read counts as none, and disturbs nothing.',
    prepare: (run) => {
      run.revision = undefined;
      run.headers = { 'X-Flags-Revision': '12abc' };
    },
    steps: [open(), ready(), readNumber('a', 1), act('change'), readNumber('a', 2, 5_000), close, verdict],
    acts: { change: (run) => run.publish({ a: on(2) }) },
  },
  {
    name: 'frames-are-counted',
    clause: 'C2.5',
    sentence: 'Each frame counts one revision, so that an older answer after it is known as such.',
    steps: [
      open({ timeScale: 0.1 }),
      ready(),
      act('two-changes'),
      readNumber('a', 3, 5_000),
      act('lag'),
      act('asked'),
      steadyNumber('a', 3, 200),
      close,
      verdict,
    ],
    acts: {
      'two-changes': (run) => {
        run.publish({ a: on(2) });
        run.publish({ a: on(3) });
      },
      lag: (run) => {
        run.onStream = stall;
        run.revision = 2;
        run.flags = { a: on(2) };
        run.stream.cut();
      },
      asked: restAsked,
    },
  },
  {
    name: 'a-server-without-revisions',
    clause: 'C2.6',
    sentence: 'A stream that promises no first frame is completed by REST at once, and then followed.',
    prepare: (run) => {
      run.revision = undefined;
      run.onStream = (exchange) => {
        beginStream(exchange, run);
        keepAlive(exchange, run);
      };
    },
    steps: [
      open(),
      ready(),
      readNumber('a', 1),
      status('ready'),
      act('change'),
      readNumber('a', 2, 5_000),
      readMissing('b'),
      close,
      verdict,
    ],
    acts: { change: (run) => run.publish({ a: on(2) }) },
    judge: (run) => (run.count('/v1/flags') <= 2 ? [] : ['REST is asked again beside a live stream']),
  },
];
