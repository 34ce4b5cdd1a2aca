import { describe, expect, test } from 'bun:test';
import eventStream from '../../../conformance/fixtures/event-stream.json';
import { createSseParser, event, frame, KEEP_ALIVE, type SseEvents } from './sse.ts';

/** The events that a parser finds in a text. */
function read(text: string): string[] {
  const found: string[] = [];
  const parse = createSseParser({
    onData: (data, name) => found.push(name === 'message' ? data : `${name} ${data}`),
    onComment: () => found.push('(comment)'),
    onRetry: (ms) => found.push(`(retry ${ms})`),
  });
  parse(text);
  return found;
}

describe('the writer', () => {
  test('a frame has one data field for each line', () => {
    expect(frame('{"a":1}')).toBe('data: {"a":1}\n\n');
    expect(frame('a\r\nb\rc\n')).toBe('data: a\ndata: b\ndata: c\ndata: \n\n');
    for (const data of ['', ' a', 'a: b', 'a\nb\n', ':']) expect(read(frame(data))).toEqual([data]);
  });

  test('a named event is read with its name, a frame as a message', () => {
    expect(event('change', '{}')).toBe('event: change\ndata: {}\n\n');
    expect(read(event('change', '{}') + frame('1') + event('message', '2'))).toEqual(['change {}', '1', '2']);
  });

  test('a keep-alive is a comment, not an event', () => {
    expect(read(KEEP_ALIVE + frame('1') + KEEP_ALIVE)).toEqual(['(comment)', '1', '(comment)']);
  });
});

/** The events that a parser finds in bytes that arrive in pieces. */
function readPieces(pieces: readonly Uint8Array[]) {
  const found = { frames: [] as string[], comments: 0, retries: [] as number[] };
  const parse = createSseParser({
    onData: (data, name) => {
      if (name === 'message') found.frames.push(data);
    },
    onComment: () => found.comments++,
    onRetry: (ms) => found.retries.push(ms),
  });
  const decoder = new TextDecoder();
  for (const piece of pieces) parse(decoder.decode(piece, { stream: true }));
  return found;
}

describe('the parser', () => {
  test.each(eventStream.cases.map((one) => [one.name, one] as const))(
    '%s, however the bytes are cut',
    (_, { text = '', hex, events, comments = 0, retries = [] }) => {
      const bytes = hex === undefined ? new TextEncoder().encode(text) : Uint8Array.fromHex(hex);
      const frames = events.filter((event) => !('type' in event)).map(({ data }) => data);
      const expected = { frames, comments, retries };
      for (let cut = 0; cut <= bytes.length; cut++)
        expect(readPieces([bytes.subarray(0, cut), bytes.subarray(cut)])).toEqual(expected);
      const single = [...bytes].map((byte) => Uint8Array.of(byte));
      expect(readPieces(single)).toEqual(expected);
      expect(readPieces(single.flatMap((byte) => [byte, new Uint8Array()]))).toEqual(expected);
    },
  );

  test('needs no other callback than the one for data', () => {
    const found: string[] = [];
    createSseParser({ onData: (data) => found.push(data) })(':\nretry: 5\ndata: 1\n\n');
    expect(found).toEqual(['1']);
  });

  test('reports how much of an unfinished event it keeps', () => {
    const lengths: number[] = [];
    const parse = createSseParser({ onData: () => {}, onPending: (length) => lengths.push(length) });
    for (const piece of ['data: 12', '34\nda', 'ta: 5\n', '\n']) parse(piece);
    expect(lengths).toEqual([8, 7, 7, 0]);
  });

  test.each(['onData', 'onComment', 'onRetry', 'onPending'] as const)('throws what %s throws', (name) => {
    const events: SseEvents = {
      onData: () => {},
      [name]: () => {
        throw new RangeError(name);
      },
    };
    expect(() => createSseParser(events)(`${KEEP_ALIVE}retry: 1\n${frame('1')}`)).toThrow(name);
  });
});
