import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { IDLE_SECONDS } from './request.ts';

const ROOT = join(import.meta.dir, '../../../..');
const PROXIES = readFileSync(join(ROOT, 'docs/operations/proxies.md'), 'utf8');

/** Every nginx configuration that we ship or recommend. */
const RECIPES = [
  {
    name: 'deploy/nginx',
    text: shipped('nginx.conf').replace('include upstream.conf;', shipped('upstream.conf')),
  },
  ...[...PROXIES.matchAll(/```nginx\n(.*?)```/gs)].map(([, text = ''], index) => ({
    name: `docs/operations/proxies.md, recipe ${index + 1}`,
    text,
  })),
];

test('the documentation has an nginx recipe', () => {
  expect(RECIPES.length).toBeGreaterThan(1);
});

// Tried by hand with a real nginx; docs/decisions/0014-http-parser.md has the figures.
describe.each(RECIPES)('the nginx configuration in $name', ({ text }) => {
  const servers = blocksOf(text, 'server');
  const upstreams = blocksOf(text, 'upstream');

  test('refuses methods that the parser of a node does not know, in every server', () => {
    expect(servers.length).toBeGreaterThan(0);
    for (const server of servers) {
      const [, methods = ''] =
        /^ +if \(\$request_method !~ '\^\(([A-Z|]+)\)\$'\) \{\s+return 405;/m.exec(server) ?? [];
      expect(methods.split('|').sort()).toEqual(['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT']);
    }
  });

  test('passes the host on with its port, which the check of the origin needs', () => {
    expect([...text.matchAll(/proxy_set_header Host (\S+);/g)].map(([, host]) => host)).toEqual([
      '$http_host',
    ]);
  });

  test('keeps the tickets of OFREP out of both logs', () => {
    const locations = blocksOf(text, 'location').map((block) => ({
      block,
      pattern: /location ~ (\S+)/.exec(block)?.[1],
    }));
    for (const path of ['/ofrep/v1/stream', '/environments/production/ofrep/v1/stream']) {
      const [first] = locations.filter(({ pattern }) => pattern && new RegExp(pattern).test(path));
      expect(first?.block).toMatch(/^ +access_log off;$/m);
      expect(first?.block).toMatch(/^ +error_log \/dev\/null;$/m);
    }
  });

  test('lets go of an idle connection before the node closes it', () => {
    const kept = upstreams.filter((upstream) => /^ +keepalive \d+;/m.test(upstream));
    expect(kept.length).toBeGreaterThan(0);
    for (const upstream of kept) {
      expect(Number(/^ +keepalive_timeout (\d+)s;/m.exec(upstream)?.[1])).toBeLessThan(IDLE_SECONDS);
    }
  });

  test('leaves a node out only after several failures, and not for long', () => {
    for (const node of upstreams.flatMap((upstream) => upstream.match(/^ +server .+;$/gm) ?? [])) {
      expect(node).toMatch(/ max_fails=0;| max_fails=3 fail_timeout=2s;/);
    }
  });
});

function shipped(file: string): string {
  return readFileSync(join(ROOT, 'deploy/nginx', file), 'utf8');
}

/** The blocks of this name, from their own line to the brace at the same indentation. */
function blocksOf(text: string, name: string): string[] {
  return [...text.matchAll(new RegExp(`^( *)${name}\\b[^;{]*\\{\\n.*?^\\1\\}`, 'gms'))].map(
    ([block]) => block,
  );
}
