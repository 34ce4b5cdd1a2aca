import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { chmodSync, existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Management, type NodeProcess, startNode, temporaryFolder } from '@halyard/testing';
import { parse } from 'yaml';

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

describe('flags as code', () => {
  let node: NodeProcess;
  beforeAll(async () => {
    node = await startNode();
  }, 60_000);
  afterAll(() => node.stop(), 60_000);

  test('the file and the steps for GitHub Actions do what the page says', async () => {
    const page = await Bun.file(join(ROOT, 'docs/operations/flags-as-code.md')).text();
    const [file = '', workflow = ''] = [...page.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text]) => text);
    const { steps } = parse(workflow).jobs.flags;
    using folder = temporaryFolder();
    await Bun.write(join(folder.path, 'flags.yaml'), file);
    await Bun.write(join(folder.path, 'halyard'), `#!/bin/sh\nexec "${process.execPath}" "${MAIN}" "$@"\n`);
    chmodSync(join(folder.path, 'halyard'), 0o755);
    const env = {
      PATH: `${folder.path}:${process.env.PATH}`,
      HALYARD_URL: node.url,
      HALYARD_TOKEN: node.adminToken,
      GITHUB_STEP_SUMMARY: join(folder.path, 'summary'),
      GITHUB_SHA: '4f2a',
    };
    const run = async (name: string) => {
      const script = steps.find((step: { name?: string }) => step.name === name).run;
      const shell = Bun.spawn(['bash', '-e', '-c', script], { cwd: folder.path, env, stderr: 'pipe' });
      const [out, err] = await Promise.all([
        new Response(shell.stdout).text(),
        new Response(shell.stderr).text(),
      ]);
      return { out, err, code: await shell.exited };
    };
    const shown = await run('Show what a merge would change');
    expect(shown.out).toContain('+ flag banner\n');
    expect(shown.code).toBe(0);
    expect(await Bun.file(env.GITHUB_STEP_SUMMARY).text()).toBe(shown.out);
    expect(await run('Import')).toMatchObject({ code: 0, out: expect.stringContaining('are the same.') });
    await Bun.write(join(folder.path, 'flags.yaml'), file.replace('permanent', 'permanant'));
    expect(await run('Show what a merge would change')).toMatchObject({
      code: 1,
      err: expect.stringContaining('Line 11: '),
    });
  }, 60_000);
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
