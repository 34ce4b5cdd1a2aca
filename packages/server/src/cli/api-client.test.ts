import { afterEach, expect, test } from 'bun:test';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { temporaryFolder } from '@halyard/testing';
import { readEvents } from './api-client.ts';
import { describeConnectionFailure } from './connection-failure.ts';
import { runCaptured } from './test-shell.ts';

const MAIN = join(import.meta.dir, '../main.ts');
const env = { HALYARD_TOKEN: 'hat_any' };

/** Self-signed by this key, made for these tests: good for 127.0.0.1, for another host, and until 2021. */
const KEY = pem(
  'PRIVATE KEY',
  'MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgVyd2qEW56Qsg98hYSS3PIURg16/FkRyBVInBtrtkmnehRANCAARqOJKYhy0f9/ni7jgsxtcioCcUTH8rp7X3D3M44WIgkrF4P97b5S7pPMkKaKKnvJJ0oHuDw9S/amFVwp8mzC64',
);
const TRUSTABLE = pem(
  'CERTIFICATE',
  'MIIBlTCCATygAwIBAgIUIQqXR3AeYtj/HmFFaQVO2yHvK/4wCgYIKoZIzj0EAwIwFzEVMBMGA1UEAwwMSGFseWFyZCB0ZXN0MCAXDTI2MTEyMjA0NDAwOVoYDzIxMjYxMDI5MDQ0MDA5WjAXMRUwEwYDVQQDDAxIYWx5YXJkIHRlc3QwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAARqOJKYhy0f9/ni7jgsxtcioCcUTH8rp7X3D3M44WIgkrF4P97b5S7pPMkKaKKnvJJ0oHuDw9S/amFVwp8mzC64o2QwYjAdBgNVHQ4EFgQU8VALdY7IX9i8UYdI9PuCF8xPGYIwHwYDVR0jBBgwFoAU8VALdY7IX9i8UYdI9PuCF8xPGYIwDwYDVR0TAQH/BAUwAwEB/zAPBgNVHREECDAGhwR/AAABMAoGCCqGSM49BAMCA0cAMEQCIGIdh+RICRJzzlNZjoit4pxnzqdf0LjpFBRXm1lpeuppAiA/YwOEX9/v3FXWUu4jdCRzwcViZXrE7ZVNnJn3GK2UAA==',
);
const OTHER_NAME = pem(
  'CERTIFICATE',
  'MIIBojCCAUmgAwIBAgIUF/wFqKkfHeD/Cd3Yl6fIkMX/jr4wCgYIKoZIzj0EAwIwFzEVMBMGA1UEAwwMSGFseWFyZCB0ZXN0MCAXDTI2MTEyMjA0NDAwOVoYDzIxMjYxMDI5MDQ0MDA5WjAXMRUwEwYDVQQDDAxIYWx5YXJkIHRlc3QwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAARqOJKYhy0f9/ni7jgsxtcioCcUTH8rp7X3D3M44WIgkrF4P97b5S7pPMkKaKKnvJJ0oHuDw9S/amFVwp8mzC64o3EwbzAdBgNVHQ4EFgQU8VALdY7IX9i8UYdI9PuCF8xPGYIwHwYDVR0jBBgwFoAU8VALdY7IX9i8UYdI9PuCF8xPGYIwDwYDVR0TAQH/BAUwAwEB/zAcBgNVHREEFTATghFlbHNld2hlcmUuZXhhbXBsZTAKBggqhkjOPQQDAgNHADBEAiBgKtP42UIDYEhBkvRSzw/EM6XFDQYUu0CCNaIboszkpAIgPWTxBnf6vS5seyIHMTL0+Nu1Jv/NEdNSUAidjWqo4F4=',
);
const EXPIRED = pem(
  'CERTIFICATE',
  'MIIBTTCB9aADAgECAgECMAoGCCqGSM49BAMCMBcxFTATBgNVBAMMDEhhbHlhcmQgdGVzdDAeFw0yMDAxMDEwMDAwMDBaFw0yMTAxMDEwMDAwMDBaMBcxFTATBgNVBAMMDEhhbHlhcmQgdGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABGo4kpiHLR/3+eLuOCzG1yKgJxRMfyuntfcPczjhYiCSsXg/3tvlLuk8yQpooqe8knSge4PD1L9qYVXCnybMLrijMjAwMA8GA1UdEQQIMAaHBH8AAAEwHQYDVR0OBBYEFPFQC3WOyF/YvFGHSPT7ghfMTxmCMAoGCCqGSM49BAMCA0cAMEQCICeqMl/c9yX8xubofrZWQh0LUzAj8Kig9imhd15iNFFIAiAwbbzAzo56mMpWzMPaPU6W6OWFOTtV7O26jv6Vsk2znA==',
);

function pem(label: string, base64: string): string {
  return `-----BEGIN ${label}-----\n${base64.replace(/.{64}/g, '$&\n')}\n-----END ${label}-----\n`;
}

const open: { stop(): unknown }[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) await server.stop();
});

/** A server with TLS that answers everything like a healthy Halyard without projects. Returns its address. */
function tlsServer(cert: string): string {
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    tls: { cert, key: KEY },
    fetch: () => Response.json({ projects: [] }),
  });
  open.push({ stop: () => server.stop(true) });
  return `https://127.0.0.1:${server.port}`;
}

/** A TCP server that calls `answer` once a request has begun to arrive. Returns its address. */
async function tcpServer(answer: (socket: Socket, request: string) => void): Promise<string> {
  const server: Server = createServer((socket) =>
    socket.on('error', () => {}).once('data', (bytes) => answer(socket, String(bytes))),
  );
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, '127.0.0.1', resolve);
  await promise;
  open.push({ stop: () => server.close() });
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('no port');
  return `http://127.0.0.1:${address.port}`;
}

/** The output of the program when it trusts an additional authority, in its own process. */
async function withAuthority(cert: string, ...words: readonly string[]) {
  using folder = temporaryFolder();
  await Bun.write(folder.file('ca.pem'), cert);
  const process_ = Bun.spawn([process.execPath, MAIN, ...words], {
    env: { ...env, NODE_EXTRA_CA_CERTS: folder.file('ca.pem') },
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [out, err] = await Promise.all([
    new Response(process_.stdout).text(),
    new Response(process_.stderr).text(),
  ]);
  return { exitCode: await process_.exited, out, err };
}

test('an export of the audit log that ends early is not taken for a whole one', async () => {
  const head = 'HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n';
  const url = await tcpServer((socket) => {
    socket.write(`${head}a\r\n{"seq":12}\r\n`, () => socket.destroy());
  });
  const { exitCode, err } = await runCaptured(['audit', '--format', 'ndjson', '--url', url], { env });
  expect({ exitCode, err }).toEqual({
    exitCode: 1,
    err: 'error: The export ended early: entries are missing at its end. Run it again.\n',
  });
});

test('explains how to trust the authority of an unknown certificate', async () => {
  const url = tlsServer(TRUSTABLE);
  const run = await runCaptured(['project', 'list', '--url', url], { env });
  expect(run).toMatchObject({ exitCode: 1, out: '' });
  expect(run.err).toStartWith(
    `error: The certificate of ${url} was issued by an authority that this machine does not`,
  );
  expect(run.err).toContain('NODE_EXTRA_CA_CERTS');
  const doctor = await runCaptured(['doctor', '--url', url], { env });
  expect(doctor).toMatchObject({ exitCode: 1, out: expect.stringContaining('NODE_EXTRA_CA_CERTS') });
  expect(await withAuthority(TRUSTABLE, 'project', 'list', '--url', url)).toMatchObject({
    exitCode: 0,
    out: '{"projects":[]}\n',
  });
});

test('reports an expired certificate', async () => {
  const { err } = await runCaptured(['project', 'list', '--url', tlsServer(EXPIRED)], { env });
  expect(err).toContain('has expired. Renew it');
});

test('reports a certificate for another host name', async () => {
  const { err } = await withAuthority(OTHER_NAME, 'project', 'list', '--url', tlsServer(OTHER_NAME));
  expect(err).toContain(
    'is for another host name. Use the name it was issued for, or issue one for 127.0.0.1.',
  );
});

test('reports https:// to a port without TLS', async () => {
  const url = await tcpServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
  const { err } = await runCaptured(['project', 'list', '--url', url.replace('http:', 'https:')], { env });
  expect(err).toContain(`does not speak TLS on this port. Check the port, or use ${url}.`);
});

test('suggests TLS for http:// to a port with TLS', async () => {
  const url = tlsServer(TRUSTABLE);
  const { err } = await runCaptured(['project', 'list', '--url', url.replace('https:', 'http:')], { env });
  expect(err).toContain(`If this port expects TLS, use ${url}.`);
});

test('reports a host name that does not exist', async () => {
  const { err } = await runCaptured(['project', 'list', '--url', 'http://no-such-host.invalid'], { env });
  expect(err).toStartWith('error: Cannot resolve the host name no-such-host.invalid.');
});

test('reports a port with another protocol', async () => {
  const url = await tcpServer((socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n'));
  const { err } = await runCaptured(['project', 'create', 'shop', '--url', url], { env });
  expect(err).toContain(`${url} is not a web server: the port speaks another protocol.`);
});

test('reports a redirect', async () => {
  const url = await tcpServer((socket) =>
    socket.end('HTTP/1.1 301 Moved\r\nLocation: https://flags.example.com/\r\nContent-Length: 0\r\n\r\n'),
  );
  const { err } = await runCaptured(['project', 'list', '--url', url], { env });
  expect(err).toContain('redirects to another address');
});

/** Answers the first request with `answer`, and all others as a server without references does. */
function onceThenUnknown(answer: (socket: Socket) => void): (socket: Socket) => void {
  let count = 0;
  return (socket) =>
    count++ === 0 ? answer(socket) : void socket.end('HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n');
}

test.each<[string, (socket: Socket) => void]>([
  ['is reset', (socket) => socket.resetAndDestroy()],
  ['ends', (socket) => socket.end()],
  [
    'ends in the middle of the answer',
    (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{'),
  ],
])(
  'warns that a write may have been made when its connection %s, and the server cannot say',
  async (_, answer) => {
    const url = await tcpServer(onceThenUnknown(answer));
    const { exitCode, err } = await runCaptured(['project', 'create', 'shop', '--url', url], { env });
    expect(exitCode).toBe(1);
    expect(err).toStartWith(`error: The connection to ${url} was lost before the answer arrived`);
    expect(err).toContain('The change may have been made. Check "halyard audit"');
    expect(err).not.toContain('halyard serve');
  },
);

test('says that a change is saved and not yet served', async () => {
  const headers = 'Content-Length: 16\r\nX-Change-Pending: true';
  const url = await tcpServer((socket) =>
    socket.end(`HTTP/1.1 200 OK\r\n${headers}\r\n\r\n{"usage":   true}`),
  );
  const { exitCode, err } = await runCaptured(['project', 'update', 'shop', '--usage', '--url', url], {
    env,
  });
  expect(exitCode).toBe(0);
  expect(err).toStartWith('warning: The change is saved, but this node does not serve it yet');
});

/** A server whose first answer is lost; what the others say is found by method and path. */
async function losing(answers: Readonly<Record<string, string>>): Promise<{ url: string; asked: string[] }> {
  const asked: string[] = [];
  let isLost = false;
  const url = await tcpServer((socket, head) => {
    const [method = '', target = ''] = head.split(' ');
    const request = `${method} ${target.split('?')[0]}`;
    if (!isLost) {
      isLost = true;
      return void socket.resetAndDestroy();
    }
    asked.push(request);
    const body = answers[request] ?? '';
    const status = body === '' ? '404 Not Found' : '200 OK';
    socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
  });
  return { url, asked };
}

test('finds out that a write without an answer was made', async () => {
  const { url } = await losing({ 'GET /api/changes': '{"changes":[{"seq":41}],"running":false}' });
  const { exitCode, err } = await runCaptured(['project', 'create', 'shop', '--url', url], { env });
  expect(exitCode).toBe(1);
  expect(err).toContain('The change was made: it is number 41. Do not run the command again.');
});

test('says nothing of changes when the answer to a message sent by hand is lost', async () => {
  const { url, asked } = await losing({ 'GET /api/changes': '{"changes":[],"running":false}' });
  const command = ['webhook', 'test', 'hook', '--project', 'shop', '--url', url];
  const { exitCode, err } = await runCaptured(command, { env });
  expect([exitCode, asked]).toEqual([1, []]);
  expect(err).not.toContain('The change was not made');
});

test('does not warn when the connection of a read is lost', async () => {
  const url = await tcpServer((socket) => socket.resetAndDestroy());
  const { err } = await runCaptured(['project', 'list', '--url', url], { env });
  expect(err).toContain('was lost before the answer arrived (ECONNRESET). Try again.');
  expect(err).not.toContain('may have been made');
});

test('does not warn when the connection of a dry run is lost', async () => {
  const url = await tcpServer((socket) => socket.resetAndDestroy());
  const { err } = await runCaptured(['change', 'revert', '7', '--dry-run', '--url', url], { env });
  expect(err).not.toContain('may have been made');
});

test.each([
  ['the server fails', '500 Internal Server Error'],
  ['a proxy times out', '504 Gateway Timeout'],
])('warns that a write may have been made when %s', async (_, status) => {
  const url = await tcpServer(
    onceThenUnknown((socket) => socket.end(`HTTP/1.1 ${status}\r\nContent-Length: 2\r\n\r\nno`)),
  );
  const { err } = await runCaptured(['project', 'create', 'shop', '--url', url], { env });
  expect(err).toContain(`returned ${status.slice(0, 3)}`);
  expect(err).toContain('The change may have been made');
});

test('asks for the rest of an audit log of which the search gives less at once, without control characters', async () => {
  const asked: (string | null)[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: ({ url }) => {
      const limit = new URL(url).searchParams.get('limit');
      asked.push(limit);
      const entry = { seq: Number(limit), actor: 'system', action: 'flag.changed', target: 'a\u009b2Jb' };
      return Response.json({ entries: [entry], next: 'more' });
    },
  });
  open.push({ stop: () => server.stop(true) });
  const line = ['audit', '--limit', '3', '--url', server.url.origin];
  const { out } = await runCaptured(line, { env, isTerminal: true });
  expect(asked).toEqual(['3', '2', '1']);
  expect(out.match(/^\d .*$/gm)).toHaveLength(3);
  // On a terminal, this one begins a command.
  expect(out).toContain('a 2Jb');
});

test('says how long it waited for the answer of a write', () => {
  const timeout = new DOMException('The operation timed out.', 'TimeoutError');
  const request = { url: 'http://127.0.0.1:7070', timeoutMs: 30_000, isWrite: true };
  expect(describeConnectionFailure(timeout, request)).toBe(
    'http://127.0.0.1:7070 did not answer within 30 seconds.',
  );
});

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

test('reads the data of events with any line ending', async () => {
  for (const end of ['\n', '\r\n', '\r']) {
    expect(await eventsOf(`:${end}${end}data: {"a":1}${end}${end}data:b${end}data: c${end}${end}:`)).toEqual([
      '{"a":1}',
      'b\nc',
    ]);
  }
});

test('reads events split at any byte', async () => {
  const bytes = new TextEncoder().encode(':\r\n\r\ndata: "é日"\r\n\r\ndata: 2\r\n\r\n');
  for (let cut = 0; cut <= bytes.length; cut++) {
    expect(await eventsOf(bytes.slice(0, cut), bytes.slice(cut))).toEqual(['"é日"', '2']);
  }
});

test('ignores an unfinished event', async () => {
  expect(await eventsOf('data: 1\n\ndata: 2\n')).toEqual(['1']);
});
