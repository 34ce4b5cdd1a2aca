import { afterEach, beforeEach, expect, test } from 'bun:test';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts';
import { within } from './waiting.ts';

let echo: Server;
let proxy: TcpProxy;
let seenByTarget: Socket[];
const clients: Socket[] = [];

beforeEach(async () => {
  seenByTarget = [];
  echo = createServer({ allowHalfOpen: true }, (socket) => {
    seenByTarget.push(socket);
    socket.on('error', () => socket.destroy());
    socket.pipe(socket);
  });
  await new Promise<void>((resolve) => echo.listen(0, '127.0.0.1', resolve));
  proxy = await startTcpProxy({ port: (echo.address() as AddressInfo).port }); // a TCP port was asked for
});

afterEach(async () => {
  for (const client of clients.splice(0)) client.destroy();
  await proxy.close();
  echo.close();
});

test('bytes pass in both directions', async () => {
  const client = await open();
  expect(await ask(client, 'hello')).toBe('hello');
});

test('an end is passed on', async () => {
  const client = await open();
  client.end('bye');
  const [answer] = await next(client, 'data');
  expect(String(answer)).toBe('bye');
  await next(client, 'end');
});

test('a half-closed connection ends in one direction, and passes in the other', async () => {
  const client = connect({ port: proxy.port, host: '127.0.0.1', allowHalfOpen: true });
  clients.push(client);
  await ask(client, 'hello');
  const [target] = seenByTarget;
  if (target === undefined) throw new Error('the target has the connection');
  const clientEnds = next(client, 'end');
  proxy.halfClose('near');
  await clientEnds;
  const arrives = next(target, 'data');
  client.write('still here');
  expect(String((await arrives)[0])).toBe('still here');

  const targetEnds = next(target, 'end');
  proxy.halfClose('far');
  await targetEnds;
});

test('a throttled connection passes everything, and no faster than it may', async () => {
  proxy.throttle(1_000_000);
  const client = await open();
  const begun = performance.now();
  let received = 0;
  const done = new Promise<void>((resolve) => {
    client.on('data', (bytes: Buffer) => {
      received += bytes.length;
      if (received === 300_000) resolve();
    });
  });
  client.write('x'.repeat(300_000));
  await done;
  expect(performance.now() - begun).toBeGreaterThanOrEqual(300);
  expect(proxy.passedBytes).toBe(600_000);
});

test('a black hole is silent, and restoring it delivers what was held', async () => {
  const client = await open();
  await ask(client, 'before');
  proxy.blackhole();
  let answered = '';
  client.on('data', (bytes) => {
    answered += String(bytes);
  });
  client.write('into the hole');
  await Bun.sleep(100);
  expect(answered).toBe('');
  expect(client.destroyed).toBe(false);
  proxy.restore();
  await next(client, 'data');
  expect(answered).toBe('into the hole');
});

test('a connection made into a black hole hangs until it is restored', async () => {
  proxy.blackhole();
  const client = await open();
  client.write('hello');
  await Bun.sleep(100);
  expect(client.bytesRead).toBe(0);
  proxy.restore();
  const [answer] = await next(client, 'data');
  expect(String(answer)).toBe('hello');
});

test('a peer torn down in a black hole is noticed by the other side only after it is restored', async () => {
  const client = await open();
  await ask(client, 'before');
  proxy.blackhole();
  seenByTarget[0]?.resetAndDestroy();
  await Bun.sleep(100);
  expect(client.destroyed).toBe(false);
  const failed = next(client, 'error');
  client.on('data', ignoreData);
  proxy.restore();
  const [error] = await Promise.all([Promise.race([failed, next(client, 'close')]), sendSome(client)]);
  expect(error).toBeDefined();
});

test('a reset tears down open connections and lets new ones pass', async () => {
  const client = await open();
  await ask(client, 'before');
  const failed = errorOf(client);
  proxy.reset();
  expect((await failed).code).toBe('ECONNRESET');
  expect(await ask(await open(), 'again')).toBe('again');
});

test('a proxy that leads elsewhere keeps open connections where they are', async () => {
  const other = createServer((socket) => socket.end('other'));
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  const before = await open();
  try {
    proxy.lead({ port: (other.address() as AddressInfo).port }); // a TCP port was asked for
    const [answer] = await next(await open(), 'data');
    expect(String(answer)).toBe('other');
    expect(await ask(before, 'hello')).toBe('hello');
  } finally {
    other.close();
  }
});

test('refused connections are reset until the proxy is restored', async () => {
  proxy.refuse();
  const client = connect({ port: proxy.port, host: '127.0.0.1' });
  clients.push(client);
  client.on('data', ignoreData);
  client.on('connect', () => client.write('hello'));
  await Promise.race([errorOf(client), next(client, 'close')]);
  expect(seenByTarget).toHaveLength(0);
  proxy.restore();
  expect(await ask(await open(), 'again')).toBe('again');
});

test('a connection is cut in the middle of a message after the bytes it was given', async () => {
  const client = await open();
  await ask(client, 'before');
  let answered = '';
  client.on('data', (bytes) => {
    answered += String(bytes);
  });
  const failed = errorOf(client);
  proxy.dropAfter(10 + 4);
  client.write('0123456789');
  await failed;
  expect('0123456789'.startsWith(answered)).toBe(true);
  expect(answered.length).toBeLessThanOrEqual(4);
  expect(await ask(await open(), 'again')).toBe('again');
});

test('a connection is cut before its target gets a certain text, or before the answer to it comes back', async () => {
  const received: string[] = [];
  for (const when of ['before', 'after'] as const) {
    const client = await open();
    await ask(client, 'hello');
    seenByTarget.at(-1)?.on('data', (bytes) => received.push(`${when} ${bytes}`));
    client.on('data', ignoreData);
    proxy.cutOn(['BEGIN', 'COMMIT'], when);
    await ask(client, 'COMMIT');
    await ask(client, 'BEGIN');
    const failed = errorOf(client);
    client.write('COMMIT');
    await failed;
    const target = seenByTarget.at(-1);
    if (target?.readableEnded === false) await next(target, 'end');
  }
  expect(received).toEqual(['before COMMIT', 'before BEGIN', 'after COMMIT', 'after BEGIN', 'after COMMIT']);
  expect(await ask(await open(), 'COMMIT')).toBe('COMMIT');
});

test('a client that is cut ahead of its text is gone before the target gets it', async () => {
  const client = await open();
  await ask(client, 'hello');
  const target = seenByTarget.at(-1);
  if (target === undefined) throw new Error('the target has the connection');
  let received = '';
  target.on('data', (bytes) => {
    received += String(bytes);
  });
  client.on('data', ignoreData);
  proxy.cutOn(['COMMIT'], 'ahead');
  const failed = errorOf(client);
  client.write('COMMIT');
  await failed;
  expect(await ask(await open(), 'others pass')).toBe('others pass');
  expect([received, target.readableEnded]).toEqual(['', false]);
  const ended = next(target, 'end');
  proxy.restore();
  await ended;
  expect(received).toBe('COMMIT');
});

test('delayed pieces keep their order', async () => {
  const client = await open();
  proxy.delay(30);
  const startedAt = performance.now();
  client.write('a');
  await Bun.sleep(5);
  client.write('b');
  let answered = '';
  while (answered.length < 2) answered += String((await next(client, 'data'))[0]);
  expect(answered).toBe('ab');
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(55);
});

async function open(): Promise<Socket> {
  const client = connect({ port: proxy.port, host: '127.0.0.1' });
  clients.push(client);
  await next(client, 'connect');
  return client;
}

async function ask(client: Socket, question: string): Promise<string> {
  client.write(question);
  let answer = '';
  while (answer.length < question.length) answer += String((await next(client, 'data'))[0]);
  return answer;
}

async function errorOf(client: Socket): Promise<NodeJS.ErrnoException> {
  return await within('the socket fails', new Promise((resolve) => client.once('error', resolve)));
}

async function next(client: Socket, event: string): Promise<unknown[]> {
  return await within(`the socket emits "${event}"`, once(client, event));
}

async function sendSome(client: Socket): Promise<void> {
  await Bun.sleep(20);
  if (!client.destroyed) client.write('anyone there?');
}

function ignoreData(): void {
  // Reading on is what makes the end of a connection visible.
}
