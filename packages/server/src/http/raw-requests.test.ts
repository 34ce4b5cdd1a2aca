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
});
