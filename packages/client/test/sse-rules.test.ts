import { describe, expect, test } from 'bun:test';
import { createParser } from 'eventsource-parser';
import fc from 'fast-check';
import { readTarget } from '../src/options.ts';
import { followStream } from '../src/stream.ts';
import { FakePlatform } from './support/fake-platform.ts';
import { TEST_KEY } from './support/harness.ts';

interface Read {
  readonly frames: unknown[];
  readonly retries: number[];
}

/** Reads a stream that consists of these pieces and then ends. */
async function readPieces(pieces: readonly Uint8Array[]): Promise<Read> {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  });
  const response = new Response(body, { headers: { 'Content-Type': 'text/event-stream' } });
  const platform = new FakePlatform(async () => response);
  const target = readTarget({ apiKey: TEST_KEY, environment: 'e', baseUrl: 'https://x' }, platform);
  const read: Read = { frames: [], retries: [] };
  await followStream(target, new AbortController(), {
    onOpen: () => {},
    onFrame: (data) => read.frames.push(data),
    onRetry: (ms) => read.retries.push(ms),
  });
  return read;
}

const encode = (text: string) => new TextEncoder().encode(text);
const frames = async (text: string) => (await readPieces([encode(text)])).frames;

/** The rules of https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation, in order. */
const RULES: readonly (readonly [rule: string, text: string, expected: readonly unknown[]])[] = [
  ['lines end with LF', 'data: 1\n\n', [1]],
  ['lines end with CRLF', 'data: 1\r\n\r\n', [1]],
  ['lines end with CR', 'data: 1\r\rdata: 2\r\r', [1, 2]],
  ['line ends may be mixed', 'data: 1\r\n\rdata: 2\n\r\n', [1, 2]],
  ['CRLF is one end, not two', 'data: [1,\r\ndata: 2]\r\n\r\n', [[1, 2]]],
  ['one byte order mark at the start is dropped', '\uFEFFdata: 1\n\n', [1]],
  ['a second byte order mark is part of the field’s name', '\uFEFF\uFEFFdata: 1\n\n', []],
  ['a byte order mark later is part of the text', 'data: "\uFEFF"\n\n', ['\uFEFF']],
  ['an empty line dispatches', 'data: 1\n\ndata: 2\n\n', [1, 2]],
  ['without an empty line nothing is dispatched at the end', 'data: 1\n\ndata: 2\n', [1]],
  ['a line that is cut at the end is dropped', 'data: 1\n\ndata: 2', [1]],
  ['empty lines alone dispatch nothing', '\n\n\n\ndata: 1\n\n\n\n', [1]],
  ['a line that begins with a colon is a comment', ': hello\n:\n:data: 9\ndata: 1\n: between\n\n', [1]],
  ['one space after the colon is dropped, no more', 'data:1\n\ndata:  "a"\n\ndata:\t2\n\n', [1, 'a', 2]],
  ['a colon in the value is kept', 'data: {"a":"b:c"}\n\n', [{ a: 'b:c' }]],
  ['several data lines are joined by line feeds', 'data: [1,\ndata: 2]\n\n', [[1, 2]]],
  ['a field without a colon has an empty value', 'data\ndata: 1\n\n', [1]],
  ['a space before the name makes another field', ' data: 1\n\n', []],
  ['names are compared exactly', 'DATA: 1\nData: 1\ndatax: 1\ndat: 1\n\ndata: 2\n\n', [2]],
  ['unknown fields are ignored', 'foo: bar\nfoo\ndata: 1\nx: y\n\n', [1]],
  ['the event name message is the default one', 'event: message\ndata: 1\n\n', [1]],
  ['other events are not for us', 'event: ping\ndata: 1\n\ndata: 2\n\n', [2]],
  ['an empty event name is the default one', 'event: ping\nevent:\ndata: 1\n\n', [1]],
  ['the event name is forgotten after the dispatch', 'event: ping\n\ndata: 1\n\n', [1]],
  ['data is forgotten after the dispatch', 'data: 1\n\ndata: 2\n\n', [1, 2]],
  [
    'ids change nothing, with NUL or without',
    'id: 7\ndata: 1\n\nid: a\0b\ndata: 2\n\nid\ndata: 3\n\n',
    [1, 2, 3],
  ],
  ['an event without data is not dispatched', 'id: 7\n\nevent: message\n\nretry: 9\n\n', []],
  ['text of every plane is read', 'data: "флаг 🚩 \u2028"\n\n', ['флаг 🚩 \u2028']],
];

describe('the rules of the HTML standard', () => {
  test.each(RULES.map(([rule, text, expected]) => [rule, { text, expected }] as const))(
    '%s',
    async (_, { text, expected }) => {
      expect(await frames(text)).toEqual([...expected]);
    },
  );

  test('a reconnection time is made of ASCII digits', async () => {
    const { retries } = await readPieces([
      encode('retry: 1500\nretry: 1x\nretry: -1\nretry:\nretry: ٣\nretry: 20\n\n'),
    ]);
    expect(retries).toEqual([1500, 20]);
  });

  test('what is not UTF-8 is replaced, and does no harm', async () => {
    const { frames: read } = await readPieces([
      encode('data: "'),
      Uint8Array.of(0xff, 0xc3),
      encode('"\n\n'),
    ]);
    expect(read).toEqual(['\uFFFD\uFFFD']);
  });

  test.each(RULES.map(([rule, text, expected]) => [rule, { text, expected }] as const))(
    '%s, however the bytes are cut',
    async (_, { text, expected }) => {
      const bytes = encode(text);
      for (let cut = 0; cut <= bytes.length; cut++) {
        const { frames: read } = await readPieces([bytes.subarray(0, cut), bytes.subarray(cut)]);
        expect(read).toEqual([...expected]);
      }
      const { frames: single } = await readPieces([...bytes].map((byte) => Uint8Array.of(byte)));
      expect(single).toEqual([...expected]);
    },
  );

  test('a lone CR at the end of a piece ends the line, whether LF follows or not', async () => {
    for (const [first, second, expected] of [
      ['data: 1\r', '\n\r\n', [1]],
      ['data: 1\r\r', '\ndata: 2\r\r', [1, 2]],
      ['data: 1\r', 'data: 2\r\r', ['12']],
      ['data: 1\r\n\r', 'data: 2\r\n\r', [1, 2]],
    ] as const) {
      const read = await readPieces([encode(first), encode(''), encode(second)]).catch((error) =>
        String(error.code),
      );
      // `1` and `2` on two lines are no JSON: the line ends were understood.
      expect(typeof read === 'string' ? read : read.frames).toEqual(
        expected[0] === '12' ? 'invalid_response' : [...expected],
      );
    }
  });

  test('a million characters in pieces of a kilobyte are read in linear time', async () => {
    const bytes = encode(`data: "${'x'.repeat(4_000_000)}"\n\n`);
    const pieces = Array.from({ length: Math.ceil(bytes.length / 1024) }, (_, i) =>
      bytes.subarray(i * 1024, (i + 1) * 1024),
    );
    const { frames: read } = await readPieces(pieces);
    expect((read[0] as string).length).toBe(4_000_000); // the frame is that string
  });
});

test('any text in any pieces is read as eventsource-parser reads it', async () => {
  const token = fc.constantFrom(
    'data',
    'event',
    'id',
    'retry',
    ':',
    ': ',
    ' ',
    '\r',
    '\n',
    '\r\n',
    '1',
    '7',
    'x',
    'message',
    '\uFEFF',
    'é',
    '🚩',
    '\0',
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(token, { maxLength: 40 }),
      fc.array(fc.nat(120), { maxLength: 5 }),
      async (tokens, cuts) => {
        // Whole numbers and nothing else are frames here, so that both readers dispatch the same ones.
        const text = tokens.join('');
        const expected: string[] = [];
        const parser = createParser({
          onEvent: ({ event, data }) => (!event || event === 'message') && expected.push(data),
        });
        parser.feed(text);
        const bytes = encode(text);
        const places = [...new Set(cuts.map((cut) => Math.min(cut, bytes.length)))].sort((a, b) => a - b);
        const pieces = [...places, bytes.length].map((end, i) => bytes.subarray(places[i - 1] ?? 0, end));
        const isJson = (data: string) => {
          try {
            return JSON.stringify(JSON.parse(data)) !== undefined;
          } catch {
            return false;
          }
        };
        const until = expected.findIndex((data) => !isJson(data));
        const read = await readPieces(pieces).catch(() => undefined);
        if (until < 0) expect(read?.frames).toEqual(expected.map((data) => JSON.parse(data)));
        else expect(read).toBeUndefined();
      },
    ),
    { numRuns: 500 },
  );
});
