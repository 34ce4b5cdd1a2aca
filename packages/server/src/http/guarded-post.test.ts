import { afterAll, describe, expect, test } from 'bun:test';
import { createServer, type Socket } from 'node:net';
import { until, within } from '@halyard/testing';
import { GuardedPoster, POST_LIMITS } from './guarded-post.ts';

const LOCAL = ['127.0.0.0/8'];
const post = { headers: {}, body: '{}' };

/** Self-signed for hook.example, made for this test. */
const CERTIFICATE = pem(
  'CERTIFICATE',
  'MIIBnzCCAUSgAwIBAgIUSA6j/TbqxfMF8pOP73AX/fwfGzIwCgYIKoZIzj0EAwIwFzEVMBMGA1UEAwwMaG9vay5leGFtcGxlMCAXDTI2MTEyMjE0NTYyOVoYDzIxMjYxMDI5MTQ1NjI5WjAXMRUwEwYDVQQDDAxob29rLmV4YW1wbGUwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAARohlj4x2awmGF1h3t3WF50bNRcXzDD4b3xh7PslnJvcXHM2IDcSaRvKZdQi2E82tGl07librrl/EUuk9NY2RLGo2wwajAdBgNVHQ4EFgQU/pBH3LPI88YZq/pyvEUkHmyLbSkwHwYDVR0jBBgwFoAU/pBH3LPI88YZq/pyvEUkHmyLbSkwDwYDVR0TAQH/BAUwAwEB/zAXBgNVHREEEDAOggxob29rLmV4YW1wbGUwCgYIKoZIzj0EAwIDSQAwRgIhANI0/w5r6/TUda77n95rWVRgEySkWsdGAQP9b4XjV0atAiEApWvHWccyHX3ZJfGAnWY5JmIzeR37eumXxcouUSgWUpc=',
);
const KEY = pem(
  'PRIVATE KEY',
  'MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgUqSL5qleZKCBmNireejdLGzDy2W9UGOiyKsQUO2VqpmhRANCAARohlj4x2awmGF1h3t3WF50bNRcXzDD4b3xh7PslnJvcXHM2IDcSaRvKZdQi2E82tGl07librrl/EUuk9NY2RLG',
);

function pem(label: string, base64: string): string {
  return `-----BEGIN ${label}-----\n${base64.replace(/.{64}/g, '$&\n')}\n-----END ${label}-----\n`;
}

/** What a poster says about an address, when it is entered or when it is resolved. */
async function refusalOf(url: string, addresses: readonly string[] = [], networks: readonly string[] = []) {
  const resolve = async () =>
    addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  const poster = new GuardedPoster({ networks, resolve, wholeMs: 5_000 });
  return await poster.send({ ...post, url }).then(
    () => 'sent',
    (error: Error) => error.message,
  );
}

describe('addresses that are not public', () => {
  test.each([
    ...['127.0.0.1', '127.1', '0x7f000001', '2130706433', '0.0.0.0', '10.0.0.1', '172.16.0.1', '192.168.1.1'],
    ...['169.254.169.254', '100.64.0.1', '192.0.0.8', '198.18.0.1', '203.0.113.1', '224.0.0.1', '240.0.0.1'],
    ...['255.255.255.255', '[::]', '[::1]', '[fe80::1]', '[fd00:ec2::254]', '[ff02::1]', '[2001:db8::1]'],
    ...['[::ffff:127.0.0.1]', '[::ffff:a9fe:a9fe]', '[64:ff9b::7f00:1]', '[2002:7f00:1::]', '[2001::1]'],
    // An IPv4 address in an IPv6 one, and what is not assigned.
    ...[
      '[::127.0.0.1]',
      '[::10.0.0.1]',
      '[::a9fe:a9fe]',
      '[::2]',
      '[::ffff:0:127.0.0.1]',
      '[64:ff9b:1::a00:1]',
    ],
    ...[
      '[1::1]',
      '[100::1]',
      '[100:0:0:1::1]',
      '[200::1]',
      '[1fff:ffff::1]',
      '[4000::1]',
      '[5f00::1]',
      '[8000::1]',
    ],
    ...['[c000::1]', '[e000::1]', '[fec0::1]', '[2001:2::1]', '[2001:10::1]', '[2001:20::1]', '[3fff::1]'],
  ])('https://%s is refused as it is entered', (host) => {
    expect(new GuardedPoster().problemOf(`https://${host}/`)).toContain('is not public');
  });

  test.each([
    '1.1.1.1',
    '93.184.216.34',
    '[2003::1]',
    '[2606:4700::1111]',
    '[2a00:1450:4001::200e]',
    '[3ffe::1]',
  ])('https://%s is public', (host) => {
    expect(new GuardedPoster().problemOf(`https://${host}/`)).toBeUndefined();
  });

  test.each([
    ...[
      '127.0.0.1',
      '169.254.169.254',
      '10.1.2.3',
      '::1',
      'fe80::1',
      '::ffff:127.0.0.1',
      '64:ff9b::a9fe:a9fe',
      '::7f00:1',
      '4000::1',
    ],
  ])(
    'a host with the address %s is refused when it is resolved, also beside a public one',
    async (address) => {
      const url = 'https://hook.example/';
      expect(await refusalOf(url, [address])).toContain('is not public');
      expect(await refusalOf(url, ['93.184.216.34', address])).toContain('is not public');
    },
  );

  test.each([
    ['ftp://hook.example/', 'must be an https:// address'],
    ['hook.example', 'must be an https:// address'],
    ['http://hook.example/', 'must begin with https://'],
    ['https://ada:secret@hook.example/', 'contains a user name or password'],
  ])('%s is refused', async (url, problem) => {
    const refusal = await refusalOf(url);
    expect(refusal).toContain(problem);
    expect(refusal).not.toContain('secret');
  });

  test('a network that is allowed is reached, also by http, and no other one', async () => {
    const allowed = new GuardedPoster({ networks: ['10.0.0.0/8', 'fd00::/8'] });
    for (const url of [
      'https://10.1.2.3/',
      'http://10.1.2.3/',
      'https://[fd00::1]/',
      'https://[::ffff:10.1.2.3]/',
    ])
      expect(allowed.problemOf(url)).toBeUndefined();
    expect(allowed.problemOf('http://93.184.216.34/')).toContain('is public, which needs https://');
    expect(allowed.problemOf('https://192.168.0.1/')).toContain('is not public');
    expect(await refusalOf('http://hook.example/', ['93.184.216.34'], LOCAL)).toContain('needs https://');
  });
});

describe('a receiver', () => {
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    fetch: (request) => {
      const { pathname } = new URL(request.url);
      if (pathname === '/host') return new Response(request.headers.get('host'));
      if (pathname === '/huge') return new Response('x'.repeat(50 * 1024 * 1024));
      if (pathname === '/drip') return new Response(new ReadableStream({ start: (c) => c.enqueue('first') }));
      return new Promise<never>(() => {});
    },
  });
  /** Answers whatever bytes it is asked to, and closes. */
  const rude = (bytes: string) =>
    new Promise<ReturnType<typeof createServer>>((ready) => {
      const listener = createServer((socket: Socket) => socket.once('data', () => socket.end(bytes)));
      listener.listen(0, '127.0.0.1', () => ready(listener));
    });
  const portOf = (listener: ReturnType<typeof createServer>) => {
    const address = listener.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  };
  afterAll(() => server.stop(true));

  let asked: string[] = [];
  const poster = (wholeMs?: number) =>
    new GuardedPoster({
      networks: LOCAL,
      resolve: async (host) => {
        asked = [...asked, host];
        return [{ address: '127.0.0.1', family: 4 }];
      },
      ...(wholeMs === undefined ? {} : { wholeMs }),
    });
  const send = (path: string, wholeMs?: number) =>
    poster(wholeMs).send({ ...post, url: `http://hook.example:${server.port}${path}` });

  test('is resolved once, and gets its own name', async () => {
    asked = [];
    expect(await send('/host')).toEqual({ status: 200, beginning: `hook.example:${server.port}` });
    expect(asked).toEqual(['hook.example']);
  });

  test('with a huge or endless answer is read only as far as allowed', async () => {
    const huge = await send('/huge');
    expect([huge.status, huge.beginning.length]).toEqual([200, POST_LIMITS.answerBytes]);
    // A busy machine may need longer than the time for the whole answer.
    const drip = await until('its beginning arrives', () => send('/drip', 300).catch(() => undefined));
    expect(drip).toEqual({ status: 200, beginning: 'first' });
  });

  test('that does not answer in time, closes too soon or is not there has a reason', async () => {
    await expect(send('/never', 200)).rejects.toThrow('did not answer within');
    const closing = await rude('');
    const cut = await rude('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf');
    const url = (listener: typeof cut) => `http://127.0.0.1:${portOf(listener)}/`;
    await expect(poster().send({ ...post, url: url(closing) })).rejects.toThrow('closed the connection');
    // The status has arrived: it decides.
    expect(await poster().send({ ...post, url: url(cut) })).toEqual({ status: 200, beginning: 'half' });
    const gone = url(cut);
    closing.close();
    await new Promise((closed) => cut.close(closed));
    await expect(poster().send({ ...post, url: gone })).rejects.toThrow('refuses connections');
    const lost = new GuardedPoster({ resolve: () => Promise.reject(new Error('ENOTFOUND')) });
    await expect(lost.send({ ...post, url: 'https://hook.example/' })).rejects.toThrow('has no address');
  });

  test('must have a certificate for its own name', async () => {
    using secure = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      tls: { cert: CERTIFICATE, key: KEY },
      fetch: () => new Response('private'),
    });
    const resolve = async () => [{ address: '127.0.0.1', family: 4 }];
    const trusting = new GuardedPoster({ networks: LOCAL, resolve, ca: CERTIFICATE });
    const url = (host: string) => `https://${host}:${secure.port}/`;
    expect(await trusting.send({ ...post, url: url('hook.example') })).toMatchObject({
      beginning: 'private',
    });
    await expect(trusting.send({ ...post, url: url('other.example') })).rejects.toThrow('for another host');
    await expect(poster().send({ ...post, url: url('hook.example') })).rejects.toThrow('is not trusted');
  });

  test('is left when the request is ended from outside', async () => {
    const end = new AbortController();
    const sent = poster().send({
      ...post,
      url: `http://hook.example:${server.port}/never`,
      signal: end.signal,
    });
    end.abort();
    await expect(within('the request ends', sent)).rejects.toThrow();
  });

  test('is not even resolved when the request was ended before', async () => {
    const poster = new GuardedPoster({ resolve: () => new Promise<never>(() => {}), wholeMs: 3_600_000 });
    const sent = poster.send({ ...post, url: 'https://hook.example/', signal: AbortSignal.abort() });
    await expect(within('the request ends', sent)).rejects.toThrow('The request failed');
  });
});
