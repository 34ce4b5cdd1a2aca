/**
 * Tests the recipes in this folder with the proxies that are installed: `bun deploy/try.ts`. Each proxy balances between two
 * real nodes, one of them with workers. Reads continue while one is killed, a stream gets every change at once, headers
 * arrive, and no path is answered under another spelling of it.
 */
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  guardProcess,
  lastingPort,
  Management,
  type NodeProcess,
  openSse,
  sendRaw,
  startNode,
  temporaryFolder,
  until,
} from '@halyard/testing';

const HERE = import.meta.dir;

/** A proxy, and how to start it with the recipe of this folder. */
interface Proxy {
  readonly program: string;
  /** Writes the recipe into a folder, for these nodes and this port, and returns the command that runs it. */
  prepare(folder: string, nodes: readonly string[], port: number): readonly string[];
}

/** Replaces the first two node names of a recipe with real addresses, and removes the third. */
function withNodes(text: string, nodes: readonly string[]): string {
  return text
    .replaceAll('node-a:7070', nodes[0] ?? '')
    .replaceAll('node-b:7070', nodes[1] ?? '')
    .replaceAll(/^.*server node-c.*\n/gm, '')
    .replaceAll(' node-c:7070', '');
}

function recipe(path: string): string {
  return readFileSync(join(HERE, path), 'utf8');
}

const PROXIES: Readonly<Record<string, Proxy>> = {
  nginx: {
    program: 'nginx',
    prepare: (folder, nodes, port) => {
      cpSync(join(HERE, 'nginx'), folder, { recursive: true });
      // nginx before 1.27.3 cannot resolve names in an upstream.
      const upstream = recipe('nginx/upstream.conf')
        .replace(/^resolver .*\n/m, '')
        .replaceAll(' resolve ', ' ');
      writeFileSync(join(folder, 'upstream.conf'), withNodes(upstream, nodes));
      const main = recipe('nginx/nginx.conf')
        .replace('listen 8080', `listen 127.0.0.1:${port}`)
        .replaceAll('/tmp/', `${folder}/`)
        .replace('worker_rlimit_nofile 65536', 'worker_rlimit_nofile 4096')
        .replace('worker_connections 32768', 'worker_connections 1024');
      writeFileSync(join(folder, 'nginx.conf'), main);
      return ['nginx', '-e', 'stderr', '-p', folder, '-c', join(folder, 'nginx.conf'), '-g', 'daemon off;'];
    },
  },
  haproxy: {
    program: 'haproxy',
    prepare: (folder, nodes, port) => {
      const text = withNodes(recipe('haproxy/haproxy.cfg'), nodes)
        .replace('bind :8080', `bind 127.0.0.1:${port}`)
        .replace('maxconn 40000', 'maxconn 1000');
      writeFileSync(join(folder, 'haproxy.cfg'), text);
      return ['haproxy', '-db', '-f', join(folder, 'haproxy.cfg')];
    },
  },
  caddy: {
    program: 'caddy',
    prepare: (folder, nodes, port) => {
      const text = withNodes(recipe('caddy/Caddyfile'), nodes).replace(
        'flags.example.com {',
        `{\n\tadmin off\n}\n\nhttp://127.0.0.1:${port} {`,
      );
      writeFileSync(join(folder, 'Caddyfile'), text);
      return ['caddy', 'run', '--config', join(folder, 'Caddyfile'), '--adapter', 'caddyfile'];
    },
  },
};

const READS = 400;

/** Other spellings of `/metrics`, which the recipes hide, and of `/api/whoami`, which a rule by path may hide. */
const DISGUISED = [
  '//metrics',
  '/./metrics',
  '/x/../metrics',
  '/x/%2e%2e/metrics',
  '/\\metrics',
  '/%6detrics',
  '//api/whoami',
  '/environments/../api/whoami',
  '/docs/%2e%2e/api/whoami',
  '/docs/..\\api/whoami',
  '/api/whoami#/v1',
  '/api/%77hoami',
];

async function tryProxy(name: string, proxy: Proxy): Promise<string> {
  using folder = temporaryFolder();
  // Two processes on one SQLite file are two nodes.
  const options = {
    dataFolder: folder.file('data'),
    adminToken: 'x'.repeat(40),
    env: { HALYARD_TRUST_PROXY: 'true' },
  };
  const withWorkers = { ...options, env: { ...options.env, HALYARD_WORKERS: '2' } };
  const nodes = [await startNode(options), await startNode(withWorkers)] as const;
  const port = await lastingPort();
  const addresses = nodes.map(({ url }) => new URL(url).host);
  const command = proxy.prepare(folder.path, addresses, port);
  const child = Bun.spawn([...command], {
    stdout: 'ignore',
    stderr: 'pipe',
    env: { ...process.env, HOME: folder.path },
  });
  const guard = guardProcess(child.pid);
  try {
    return await check(name, `http://127.0.0.1:${port}`, nodes);
  } finally {
    child.kill('SIGTERM');
    await child.exited;
    guard.release();
    for (const node of nodes) await node.kill();
  }
}

async function check(name: string, url: string, nodes: readonly [NodeProcess, NodeProcess]): Promise<string> {
  const isUp = async () => (await fetch(`${url}/readyz`).catch(() => undefined))?.status === 200;
  await until(`${name} answers`, isUp, 15_000);
  const management = new Management({ url, adminToken: nodes[0].adminToken });
  await management.createProject('shop');
  const { key } = await management.createKey('shop', ['production']);
  const headers = { 'X-Service-Key': key };
  const read = () => fetch(`${url}/v1/flags?env=production`, { headers });
  await until('both nodes accept the key', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, read));
    return answers.every(({ status }) => status === 200);
  });

  const stream = await openSse(`${url}/v1/stream?env=production`, { headers });
  await stream.nextFrame();
  const changes = 20;
  for (let index = 0; index < changes; index++) {
    await management.putState('shop', 'production', 'checkout', { enabled: true, value: index });
    const { data } = await stream.nextFrame(2000);
    if (!data.includes(`"value":${index}}`)) throw new Error(`frame ${index} is ${data}`);
  }

  // An unknown method must not put a node out of service.
  for (let index = 0; index < 10; index++)
    await fetch(`${url}/v1/flags`, { method: 'FOO' }).catch(() => undefined);
  // The second node may apply the last change slightly later.
  await until('a read with the entity tag gets 304', async () => {
    const tag = (await read()).headers.get('ETag') ?? '';
    const again = await fetch(`${url}/v1/flags?env=production`, {
      headers: { ...headers, 'If-None-Match': tag },
    });
    return again.status === 304;
  });
  if ((await fetch(`${url}/metrics`)).status !== 404) throw new Error('/metrics is public');
  await checkSpellings(url, nodes[0].adminToken);

  const statuses = new Map<number, number>();
  const killed = Bun.sleep(50).then(() => nodes[0].kill());
  for (let index = 0; index < READS; index++) {
    const status = await read().then(
      (answer) => answer.status,
      () => 0,
    );
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  }
  await killed;
  await until('a stream opens at the other node', async () => {
    const next = await openSse(`${url}/v1/stream?env=production`, { headers }).catch(() => undefined);
    const frame = await next?.nextFrame(2000).catch(() => undefined);
    next?.close();
    return frame !== undefined;
  });
  stream.close();
  const failed = READS - (statuses.get(200) ?? 0);
  return `${changes} of ${changes} changes on the stream, 10 unknown methods, ${DISGUISED.length} disguised paths, ${failed} of ${READS} reads failed while a node was killed`;
}

/** Fails if a node behind the proxy resolves a path. Each is sent several times, so that both nodes get it. */
async function checkSpellings(url: string, token: string): Promise<void> {
  const head = `Host: ${new URL(url).host}\r\nAuthorization: Bearer ${token}\r\nConnection: close\r\n\r\n`;
  for (const target of DISGUISED) {
    for (let time = 0; time < 4; time++) {
      const { answers } = await sendRaw(url, `GET ${target} HTTP/1.1\r\n${head}`, { answers: 1 });
      const status = answers[0]?.status ?? 0;
      if (status < 400 || status >= 500) throw new Error(`${target} is answered with ${status}`);
    }
  }
}

for (const [name, proxy] of Object.entries(PROXIES)) {
  const path = Bun.which(proxy.program);
  process.stdout.write(
    `${name.padEnd(8)} ${path === null ? 'skipped: not installed' : await tryProxy(name, proxy)}\n`,
  );
}
