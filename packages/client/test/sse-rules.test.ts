import { describe, expect, test } from 'bun:test';
import { createParser } from 'eventsource-parser';
import fc from 'fast-check';
import eventStream from '../../../conformance/fixtures/event-stream.json';
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
    onMapChange: ({ set }) => {
      read.frames.push(set);
      return {};
    },
    onRetry: (ms) => read.retries.push(ms),
  });
  return read;
}

const encode = (text: string) => new TextEncoder().encode(text);

function isJson(data: string): boolean {
  try {
    return JSON.stringify(JSON.parse(data)) !== undefined;
  } catch {
    return false;
  }
}

/** The frames of a case: the events without a type of their own. Those that are not JSON are for other readers. */
const CASES = eventStream.cases
  .map(({ name, text, hex, events, retries = [] }) => ({
    name,
    bytes: hex === undefined ? encode(text ?? '') : Uint8Array.fromHex(hex),
    frames: events.filter((event) => !('type' in event)).map(({ data }) => data),
    retries,
  }))
  .filter(({ frames }) => frames.every(isJson))
  .map(
    ({ name, frames, ...rest }) =>
      [name, { ...rest, frames: frames.map((data) => JSON.parse(data)) }] as const,
  );

describe('the rules of the HTML standard', () => {
  test.each(CASES)('%s, however the bytes are cut', async (_, { bytes, ...expected }) => {
    expect(await readPieces([bytes])).toEqual(expected);
    for (let cut = 0; cut <= bytes.length; cut++)
      expect(await readPieces([bytes.subarray(0, cut), bytes.subarray(cut)])).toEqual(expected);
    expect(await readPieces([...bytes].map((byte) => Uint8Array.of(byte)))).toEqual(expected);
    expect(await readPieces([...bytes].flatMap((byte) => [Uint8Array.of(byte), encode('')]))).toEqual(
      expected,
    );
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
        const until = expected.findIndex((data) => !isJson(data));
        const read = await readPieces(pieces).catch(() => undefined);
        if (until < 0) expect(read?.frames).toEqual(expected.map((data) => JSON.parse(data)));
        else expect(read).toBeUndefined();
      },
    ),
    { numRuns: 500 },
  );
});
