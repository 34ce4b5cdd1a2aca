import { afterEach, expect, test } from 'bun:test';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { temporaryFolder } from '@halyard/testing';
import { runCaptured } from './captured-shell.ts';
import { describeConnectionFailure } from './connection-failure.ts';

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

/** A server with TLS that answers everything like a healthy Halyard without projects. Gives its address. */
function tlsServer(cert: string): string {
  const server = Bun.serve({
    ...{ port: 0, hostname: '127.0.0.1', tls: { cert, key: KEY } },
    fetch: () => Response.json({ projects: [] }),
  });
  open.push({ stop: () => server.stop(true) });
  return `https://127.0.0.1:${server.port}`;
}

/** A TCP server that does `answer` once a request has begun to arrive. Gives its address. */
async function tcpServer(answer: (socket: Socket) => void): Promise<string> {
  const server: Server = createServer((socket) =>
    socket.on('error', () => {}).once('data', () => answer(socket)),
  );
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, '127.0.0.1', resolve);
  await promise;
  open.push({ stop: () => server.close() });
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('no port');
  return `http://127.0.0.1:${address.port}`;
}

/** What the program says when it trusts an additional authority, in a process of its own. */
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

test('a certificate of an unknown authority is named, with how to trust the authority', async () => {
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
    ...{ exitCode: 0, out: '{"projects":[]}\n' },
  });
});

test('a certificate that has expired is said to have expired', async () => {
  const { err } = await runCaptured(['project', 'list', '--url', tlsServer(EXPIRED)], { env });
  expect(err).toContain('has expired. Renew it');
});

test('a certificate for another host name is said to be so', async () => {
  const { err } = await withAuthority(OTHER_NAME, 'project', 'list', '--url', tlsServer(OTHER_NAME));
  expect(err).toContain(
    'is for another host name. Use the name it was issued for, or issue one for 127.0.0.1.',
  );
});

test('https:// to a port without TLS is said to be so', async () => {
  const url = await tcpServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
  const { err } = await runCaptured(['project', 'list', '--url', url.replace('http:', 'https:')], { env });
  expect(err).toContain(`does not speak TLS on this port. Check the port, or use ${url}.`);
});

test('http:// to a port with TLS is said to be possible', async () => {
  const url = tlsServer(TRUSTABLE);
  const { err } = await runCaptured(['project', 'list', '--url', url.replace('https:', 'http:')], { env });
  expect(err).toContain(`If this port expects TLS, use ${url}.`);
});

test('a host name that does not exist is said not to be resolved', async () => {
  const { err } = await runCaptured(['project', 'list', '--url', 'http://no-such-host.invalid'], { env });
  expect(err).toStartWith('error: The host name no-such-host.invalid cannot be resolved.');
});

test('a port of another protocol is said to be one', async () => {
  const url = await tcpServer((socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n'));
  const { err } = await runCaptured(['project', 'create', 'shop', '--url', url], { env });
  expect(err).toContain(`${url} is not a web server: something else answers on this port.`);
});

test('a redirect is named', async () => {
  const url = await tcpServer((socket) =>
    socket.end('HTTP/1.1 301 Moved\r\nLocation: https://flags.example.com/\r\nContent-Length: 0\r\n\r\n'),
  );
  const { err } = await runCaptured(['project', 'list', '--url', url], { env });
  expect(err).toContain('redirects to another address');
});

test.each<[string, (socket: Socket) => void]>([
  ['is reset', (socket) => socket.resetAndDestroy()],
  ['ends', (socket) => socket.end()],
  [
    'ends in the middle of the answer',
    (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{'),
  ],
])('a write whose connection %s may have been made', async (_, answer) => {
  const url = await tcpServer(answer);
  const { exitCode, err } = await runCaptured(['project', 'create', 'shop', '--url', url], { env });
  expect(exitCode).toBe(1);
  expect(err).toStartWith(`error: The connection to ${url} was lost before the answer had arrived`);
  expect(err).toContain('The change may have been made: check with "halyard audit"');
  expect(err).not.toContain('halyard serve');
});

test('a read whose connection is lost changed nothing', async () => {
  const url = await tcpServer((socket) => socket.resetAndDestroy());
  const { err } = await runCaptured(['project', 'list', '--url', url], { env });
  expect(err).toContain('was lost before the answer had arrived (ECONNRESET). Try again.');
  expect(err).not.toContain('may have been made');
});

test('a dry run whose connection is lost changed nothing', async () => {
  const url = await tcpServer((socket) => socket.resetAndDestroy());
  const { err } = await runCaptured(['change', 'revert', '7', '--dry-run', '--url', url], { env });
  expect(err).not.toContain('may have been made');
});

test('a write that a proxy gave up on may have been made', async () => {
  const url = await tcpServer((socket) =>
    socket.end('HTTP/1.1 504 Gateway Timeout\r\nContent-Length: 2\r\n\r\nno'),
  );
  const { err } = await runCaptured(['project', 'create', 'shop', '--url', url], { env });
  expect(err).toContain('answered 504');
  expect(err).toContain('The change may have been made');
});

test('a write that is not answered in time may have been made', () => {
  const timeout = new DOMException('The operation timed out.', 'TimeoutError');
  const request = { url: 'http://127.0.0.1:7070', timeoutMs: 30_000, isWrite: true };
  expect(describeConnectionFailure(timeout, request)).toStartWith(
    'http://127.0.0.1:7070 did not answer within 30 seconds. The change may have been made',
  );
});
