import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { Management, type NodeProcess, sendRaw, startNode } from '@halyard/testing';
import { DEEPEST } from './literal-paths.ts';

/** Ways to write a path that a server could resolve to another one, after a proxy has judged it as it was sent. */
const DISGUISED = [
  '//metrics',
  '/./metrics',
  '/x/../metrics',
  '/\\metrics',
  '/x\\..\\metrics',
  '/metrics#',
  '/v1/%2e%2e/metrics',
  '//healthz',
  '/x/../readyz',
  '//api/whoami',
  '/api//whoami',
  '/api/./whoami',
  '/environments/../api/whoami',
  '/docs/../api/whoami',
  '/docs/%2e%2e/api/whoami',
  '/docs/.%2E/api/whoami',
  '/dashboard/..\\api/whoami',
  '/healthz/../api/whoami',
  '/usage/../api/whoami',
  '/ofrep/../api/whoami',
  '/openfeature/../api/whoami',
  '/log/../api/whoami',
  '/v1/../api/whoami',
  '/../api/whoami',
  '/api/whoami#/v1',
  '/api/whoami/x/..',
  '/api/%77hoami',
  '/api/whoam%69',
  '/%61pi/whoami',
  '/api%2Fwhoami',
  '/x/../docs/errors',
  '//docs',
  '/docs//errors',
  '/docs/errors/%69nvalid_argument',
  '/x/..',
  '/.',
  '/..',
  '/#',
  '/api/projects/%ff',
  'http://elsewhere.example/environments/../api/whoami',
  '/inner/log/v1',
  '/x/../inner/log/v1',
];

describe.each([{ workers: '1' }, { workers: '2' }])('a node with HALYARD_WORKERS=$workers', ({ workers }) => {
  let node: NodeProcess;
  let headers: string;

  beforeAll(async () => {
    node = await startNode({ env: { HALYARD_WORKERS: workers } });
    headers = `Host: ${new URL(node.url).host}\r\nAuthorization: Bearer ${node.adminToken}\r\nConnection: close\r\n\r\n`;
  }, 60_000);
  afterAll(() => node.stop());

  const get = async (target: string) => {
    const { answers } = await sendRaw(node.url, `GET ${target} HTTP/1.1\r\n${headers}`, { answers: 1 });
    return { status: answers[0]?.status, text: answers[0]?.text ?? '' };
  };

  test('answers no path under another spelling of it', async () => {
    for (const target of DISGUISED) {
      const { status, text } = await get(target);
      expect([target, status]).toEqual([target, 404]);
      // OpenFeature's CLI reads errors of another shape. (Spec: S15.10)
      const { error } = JSON.parse(text);
      expect(error.code ?? error).toBe('not_found');
    }
  });

  test('answers paths that are written plainly, in the absolute form and with any query too', async () => {
    for (const target of [
      '/docs',
      '/docs?x=/../#y',
      '/docs/errors/invalid_argument',
      '/metrics?x=//',
      '/healthz',
      '/api/whoami?x=../..//\\',
      'http://elsewhere.example/api/whoami',
      '/api/whoami?x=a%2Fb%2e',
    ]) {
      expect([target, (await get(target)).status]).toEqual([target, 200]);
    }
    // The dashboard is not built in every checkout.
    for (const target of ['/', '/?x', 'http://elsewhere.example'])
      expect([target, (await get(target)).status]).not.toEqual([target, 404]);
    expect((await get('/docs/errors/')).status).toBe(308);
    for (const target of ['/api/projects/%7B%7D', '/api/projects/{}', '/api/projects/%C3%A9']) {
      expect([target, JSON.parse((await get(target)).text).error]).toEqual([target, 'project_not_found']);
    }
  });

  test('looks at every path of its API', async () => {
    const { paths } = (await (await fetch(`${node.url}/api/openapi.json`)).json()) as { paths: object };
    const depths = Object.keys(paths).map((path) => path.split('/').length - 1);
    expect(Math.max(...depths)).toBeLessThanOrEqual(DEEPEST);
    const management = new Management(node);
    await management.createProject('shop');
    const deep = `/api/projects/shop${'/x'.repeat(DEEPEST)}`;
    expect((await get(deep)).status).toBe(404);
  });
});
