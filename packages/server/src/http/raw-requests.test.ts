import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { Management, type NodeProcess, sendRaw, startNode } from '@halyard/testing';

/** An invalid `Host`; the last two are two fields. */
const BAD_HOSTS = [
  '',
  '[',
  'a b',
  'x:99999',
  'x/y',
  '%zz',
  '256.256.256.256',
  'x\r\nHost: y',
  'x\r\nHost: x',
];

// With workers, another process passes most requests on.
describe.each(['1', '2'])('raw requests to a node with --workers %s', (workers) => {
  let node: NodeProcess;
  let readers: string;
  let administrators: string;

  beforeAll(async () => {
    node = await startNode({ env: { HALYARD_WORKERS: workers } });
    const management = new Management(node);
    await management.createProject('raw');
    const { key } = await management.createKey('raw', ['production']);
    await management.putState('raw', 'production', 'large', { enabled: true, value: 'x'.repeat(60_000) });
    readers = `X-Service-Key: ${key}\r\n`;
    administrators = `Authorization: Bearer ${node.adminToken}\r\n`;
  }, 60_000);
  afterAll(() => node.stop());

  const request = (target: string, fields = '', host = 'here') =>
    `${target} HTTP/1.1\r\nHost: ${host}\r\n${fields}\r\n`;

  test('an invalid Host gets 400, except for reads with a key, which use none', async () => {
    const paths = ['/', '/nothing', '//x', '/v1/nothing', '/docs', '/healthz', '/readyz', '/metrics'];
    const refused = [...paths.map((path) => `GET ${path}`), 'PUT /healthz', 'GET /api/projects'];
    for (const host of BAD_HOSTS) {
      for (const target of refused) {
        const { answers } = await sendRaw(node.url, request(target, administrators, host), { answers: 1 });
        expect([host, target, answers[0]?.status]).toEqual([host, target, 400]);
        expect(JSON.parse(answers[0]?.text ?? '')).toMatchObject({ error: 'invalid_argument' });
      }

      for (const path of ['/v1/flags', '/flagd/v1/flags.json']) {
        const read = request(`GET ${path}?env=production`, readers, host);
        const { answers } = await sendRaw(node.url, read, { answers: 1 });
        expect([host, path, answers[0]?.status]).toEqual([host, path, 200]);
      }
    }
    expect(node.logs()).not.toContain('request failed');
  }, 60_000);

  test('a load balancer may ask about health without a Host, in HTTP/1.0', async () => {
    for (const [path, status] of [
      ['/healthz', 'ok'],
      ['/readyz', 'ready'],
      ['/readyz?for=reads', 'ready for reads'],
    ]) {
      const { answers } = await sendRaw(node.url, `GET ${path} HTTP/1.0\r\n\r\n`, { answers: 1 });
      expect([path, JSON.parse(answers[0]?.text ?? '').status]).toEqual([path, status]);
    }
  });

  test('requests that are sent at once are answered in order, as long as the connection lasts', async () => {
    const large = request('GET /v1/flags/large?env=production', readers);
    const missing = request('GET /v1/flags/none?env=production', readers);
    const keys = '{"env":"production","keys":["none"]}';
    const batch = `${request('POST /v1/flags/batch', `${readers}Content-Length: ${keys.length}\r\n`)}${keys}`;
    const small = await sendRaw(node.url, (missing + batch).repeat(20), { answers: 40 });
    expect(small.answers.map(({ status }) => status)).toEqual(
      Array.from({ length: 40 }, (_, at) => (at % 2 ? 200 : 404)),
    );

    // Only `missing` gets 404, so the statuses show that no answer was sent to the wrong request.
    const project = request('GET /api/projects/raw', administrators);
    for (const [first, second, statuses] of [
      [request('GET /healthz'), missing, [200, 404]],
      [request('GET /metrics'), missing, [200, 404]],
      [project, missing, [200, 404]],
      [missing, project, [404, 200]],
      [large.repeat(300), missing, [...Array(300).fill(200), 404]],
    ] as const) {
      const { answers, ended } = await sendRaw(node.url, first + second, { answers: statuses.length });
      expect(answers.map(({ status }) => status)).toEqual(statuses.slice(0, answers.length));
      if (answers.length < statuses.length) expect(ended).not.toBe('open');
      // The connection is lost before the answer, never the node.
      const alone = await sendRaw(node.url, first.slice(0, first.indexOf('\r\n\r\n') + 4), { answers: 1 });
      expect(alone.answers.map(({ status }) => status)).toEqual(statuses.slice(0, 1));
    }
  }, 60_000);
});
