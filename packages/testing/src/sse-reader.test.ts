import { afterEach, expect, test } from 'bun:test';
import { createServer, type Server, type Socket } from 'node:net';
import { openSse } from './sse-reader.ts';
import { until } from './waiting.ts';

const HEAD =
  'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\nX-R: 7\r\n\r\n';

let server: Server | undefined;

afterEach(() => {
  server?.close();
});

test('separates frames from comments, and keeps their raw bytes', async () => {
  const reader = await openSse(await serve([HEAD, chunk(':\n\n'), chunk('data: {"a":1}\n\n:beat\n\n')]));
  expect(reader.status).toBe(200);
  expect(reader.headers.get('x-r')).toBe('7');
  const frame = await reader.nextFrame();
  expect(frame).toMatchObject({ data: '{"a":1}', raw: 'data: {"a":1}\n\n', fields: [['data', '{"a":1}']] });
  expect(reader.comments.map((comment) => comment.text)).toEqual(['', 'beat']);
  expect(reader.raw.toString()).toBe(':\n\ndata: {"a":1}\n\n:beat\n\n');
  reader.close();
  expect((await reader.untilEnded()).how).toBe('left');
});

test('joins a frame that arrives in pieces, even cut inside a character', async () => {
  const bytes = Buffer.from('data: "ü"\n\n');
  const reader = await openSse(await serve([HEAD, chunk(bytes.subarray(0, 8)), chunk(bytes.subarray(8))]));
  expect((await reader.nextFrame()).data).toBe('"ü"');
  reader.close();
});

test('distinguishes an orderly end, a cut and a reset', async () => {
  const closed = await openSse(await serve([HEAD, chunk('data: 1\n\n'), '0\r\n\r\n']));
  expect((await closed.untilEnded()).how).toBe('closed');
  const cut = await openSse(await serve([HEAD, chunk('data: 1\n\ndata: ha')], (socket) => socket.end()));
  expect((await cut.untilEnded()).how).toBe('cut');
  expect(cut.frames).toHaveLength(1);
  expect(cut.unfinished).toBe('data: ha');
  const reset = await openSse(
    await serve([HEAD, chunk('data: 1\n\n')], (socket) => socket.resetAndDestroy()),
  );
  expect((await reset.untilEnded()).how).toBe('reset');
});

test('waiting for a frame ends with the stream and with the time', async () => {
  const silent = await openSse(await serve([HEAD]));
  await expect(silent.nextFrame(20)).rejects.toThrow('the stream brings its next frame');
  await expect(silent.untilEnded(20)).rejects.toThrow('the stream ends');
  silent.close();
  await expect(silent.nextFrame()).rejects.toThrow('left');
});

test('reports an error answer with its body', async () => {
  using real = Bun.serve({ port: 0, fetch: () => Response.json({ error: 'x' }, { status: 500 }) });
  const reader = await openSse(real.url.href);
  expect(reader.status).toBe(500);
  await reader.untilEnded();
  expect(JSON.parse(reader.text)).toEqual({ error: 'x' });
});

test('a paused reader takes nothing from the kernel until it is resumed', async () => {
  const frame = chunk(`data: ${'x'.repeat(100_000)}\n\n`);
  let sent: Socket | undefined;
  const reader = await openSse(
    await serve([HEAD], (socket) => {
      sent = socket;
      for (let index = 0; index < 200; index += 1) socket.write(frame);
    }),
  );
  reader.pause();
  // The buffers of the kernel fill up, and the rest waits at the sender.
  await until('the buffer of the sender is full', () => {
    const before = sent?.writableLength ?? 0;
    return before > 0 && Bun.sleep(50).then(() => sent?.writableLength === before);
  });
  const whilePaused = reader.frames.length;
  reader.resume();
  while (reader.frames.length < 200) await reader.nextFrame();
  expect(whilePaused).toBeLessThan(200);
  reader.close();
});

function chunk(content: string | Uint8Array): Buffer {
  const bytes = Buffer.from(content);
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
}

async function serve(
  pieces: readonly (string | Uint8Array)[],
  finish: (socket: Socket) => void = () => undefined,
): Promise<string> {
  server?.close();
  server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.once('data', async () => {
      for (const piece of pieces) {
        socket.write(piece);
        await Bun.sleep(5);
      }
      finish(socket);
    });
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, '127.0.0.1', resolve);
  await promise;
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return `http://127.0.0.1:${address.port}/stream?env=x`;
}
