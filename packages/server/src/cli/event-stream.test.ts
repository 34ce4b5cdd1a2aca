import { expect, test } from 'bun:test';
import { readEvents } from './event-stream.ts';

async function eventsOf(...chunks: readonly (string | Uint8Array)[]): Promise<string[]> {
  const bytes = chunks.map((chunk) => (typeof chunk === 'string' ? new TextEncoder().encode(chunk) : chunk));
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const chunk of bytes) controller.enqueue(chunk);
      controller.close();
    },
  });
  const events: string[] = [];
  for await (const data of readEvents(body, () => {})) events.push(data);
  return events;
}

test('an event is its data, whatever ends its lines', async () => {
  for (const end of ['\n', '\r\n', '\r']) {
    expect(await eventsOf(`:${end}${end}data: {"a":1}${end}${end}data:b${end}data: c${end}${end}:`)).toEqual([
      '{"a":1}',
      'b\nc',
    ]);
  }
});

test('an event is the same wherever its bytes are cut', async () => {
  const bytes = new TextEncoder().encode(':\r\n\r\ndata: "é日"\r\n\r\ndata: 2\r\n\r\n');
  for (let cut = 0; cut <= bytes.length; cut++) {
    expect(await eventsOf(bytes.slice(0, cut), bytes.slice(cut))).toEqual(['"é日"', '2']);
  }
});

test('an event that was not finished is none', async () => {
  expect(await eventsOf('data: 1\n\ndata: 2\n')).toEqual(['1']);
});
