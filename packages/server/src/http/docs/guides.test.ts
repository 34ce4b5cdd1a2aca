import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Management, type NodeProcess, startNode } from '@halyard/testing';

const ROOT = join(import.meta.dir, '../../../../..');
const MAIN = join(ROOT, 'packages/server/src/main.ts');

describe('getting started', () => {
  let page: string;
  let node: NodeProcess;
  beforeAll(async () => {
    page = await Bun.file(join(ROOT, 'docs/getting-started.md')).text();
    node = await startNode();
  }, 60_000);
  afterAll(() => node.stop(), 60_000);

  test('the first read answers as the page says', async () => {
    const management = new Management(node);
    await management.createProject('demo');
    await management.putState('demo', 'development', 'dark-mode', { enabled: true });
    const { key } = await management.createKey('demo', ['development']);
    const path = /curl "\$HALYARD_URL(\S+)" -H "X-Service-Key/.exec(page)?.[1];
    const answer = await fetch(`${node.url}${path}`, { headers: { 'X-Service-Key': key } });
    expect(`${await answer.text()}\n`).toBe(/```json\n([\s\S]*?)```/.exec(page)?.[1] ?? '');
  });

  test('the commands work in their order', async () => {
    const commands = [...page.matchAll(/^halyard (.+?)(?: +#.*)?$/gm)].map(([, words = '']) => words);
    // It ends with the terminal, and has tests of its own.
    const ending = commands.filter((words) => !words.startsWith('watch '));
    expect(ending.length).toBeGreaterThan(3);
    const env = { PATH: process.env.PATH ?? '', HALYARD_URL: node.url, HALYARD_TOKEN: node.adminToken };
    for (const words of ending) {
      const child = Bun.spawn([process.execPath, MAIN, ...words.split(' ')], { env, stderr: 'pipe' });
      const errors = await new Response(child.stderr).text();
      expect({ words, errors, code: await child.exited }).toMatchObject({ words, code: 0 });
    }
  });
});

/** The anchors of a page's headings, as GitHub makes them. */
async function headingsOf(file: string): Promise<readonly string[]> {
  const headings = (await Bun.file(file).text()).matchAll(/^#+ (.+)$/gm);
  return [...headings].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\- _]/gu, '')
      .replaceAll(' ', '-'),
  );
}

const PAGES = [
  '*.md',
  'docs/**/*.md',
  'packages/*/*.md',
  'examples/*/*.md',
  '{campaign,examples,interop}/*.md',
];

test('every relative link of a page leads to a file of the repository, and to a heading of it', async () => {
  const broken: string[] = [];
  let links = 0;
  for (const page of PAGES.flatMap((pattern) => [...new Bun.Glob(pattern).scanSync(ROOT)])) {
    const text = await Bun.file(join(ROOT, page)).text();
    for (const [, target = ''] of text
      .replaceAll(/^```[\s\S]*?^```/gm, '')
      .matchAll(/\]\((?![a-z]+:)([^)\s]+)/g)) {
      links++;
      const [path = '', heading] = target.split('#');
      const file = path === '' ? join(ROOT, page) : join(ROOT, dirname(page), path);
      const found = existsSync(file) && (heading === undefined || (await headingsOf(file)).includes(heading));
      if (!found) broken.push(`${page}: ${target}`);
    }
  }
  expect(links).toBeGreaterThan(50);
  expect(broken).toEqual([]);
});
