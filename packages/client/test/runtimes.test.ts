import { afterAll, beforeAll, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type CreatedKey, Management, type NodeProcess, startNode } from '@halyard/testing';
import { type BuiltPackage, builtPackage } from './support/built-package.ts';
import { ScriptedFiles } from './support/scripted-files.ts';

const MODULES = resolve(import.meta.dir, '../../../node_modules');
const PLATFORM = `${process.platform}-${process.arch}`;

let node: NodeProcess;
let management: Management;
let key: CreatedKey;
let built: BuiltPackage;
/** A published environment. */
let storage: Bun.Server<undefined>;

beforeAll(async () => {
  [node, built] = await Promise.all([startNode(), builtPackage()]);
  management = new Management(node);
  await management.createProject('shop');
  key = await management.createKey('shop', ['production']);
  await management.request('PATCH', '/api/projects/shop', { body: { usage: true } });
  for (const script of ['smoke.mjs', 'unreachable.mjs'])
    await copyFile(join(import.meta.dir, 'fixtures', script), join(built.application, script));
  const files = new ScriptedFiles();
  files.platform = { wallClock: Date.now };
  files.publish({ smoke: { enabled: true, value: 1 } });
  storage = Bun.serve({
    port: 0,
    fetch: (request) => files.fetch(request.url, { headers: request.headers }),
  });
}, 60_000);
afterAll(async () => {
  await storage.stop(true);
  await node.stop();
});

/** The platforms of CI, for which npm has every runtime. */
const IS_COMPLETE = ['linux-x64', 'linux-arm64'].includes(PLATFORM);
const DENO = process.platform === 'linux' ? `@deno/${PLATFORM}-glibc` : `@deno/${PLATFORM}`;

interface Runtime {
  readonly name: string;
  readonly command: string;
  readonly flags: readonly string[];
  /** Whether the installed packages must have it on this machine. */
  readonly isExpected: boolean;
}

const NODE_FLAGS = ['--unhandled-rejections=strict'];
const RUNTIMES: readonly Runtime[] = [
  { name: 'Bun', command: process.execPath, flags: [], isExpected: true },
  {
    name: 'the Node of this machine',
    command: Bun.which('node') ?? '',
    flags: NODE_FLAGS,
    isExpected: false,
  },
  {
    name: 'Node from npm',
    command: join(MODULES, `node-${PLATFORM}/bin/node`),
    flags: NODE_FLAGS,
    isExpected: IS_COMPLETE,
  },
  {
    name: 'Deno from npm',
    command: join(MODULES, DENO, 'deno'),
    flags: ['run', '--quiet', '--allow-net', '--allow-read=.', '--allow-write=.', '--allow-env=HALYARD_URL'],
    isExpected: IS_COMPLETE,
  },
];
const PRESENT = RUNTIMES.filter(({ command }) => existsSync(command));

test('every runtime that npm has for this machine is here, and what is not tried is said', () => {
  const missing = RUNTIMES.filter((runtime) => !PRESENT.includes(runtime));
  for (const { name } of missing)
    process.stderr.write(`the client is not tried in ${name}: it is not here\n`);
  expect(missing.filter(({ isExpected }) => isExpected)).toEqual([]);
});

test.each(PRESENT.map(({ name, ...runtime }) => [name, runtime] as const))(
  'ready() is answered before %s ends, where nothing listens',
  async (_, { command, flags }) => {
    const child = Bun.spawn([command, ...flags, 'unreachable.mjs'], {
      cwd: built.application,
      env: { PATH: process.env.PATH ?? '', HOME: built.application, DENO_NO_UPDATE_CHECK: '1' },
      stdout: 'pipe',
      stderr: 'pipe',
    });
    expect(await new Response(child.stderr).text()).toBe('');
    expect(await new Response(child.stdout).text()).toBe('failed\n');
    expect(await child.exited).toBe(0);
  },
  60_000,
);

/** How many reports of reads the node has taken: the last one is sent by `close()`. */
async function reportsTaken(): Promise<number> {
  const text = await (await fetch(`${node.url}/metrics`)).text();
  const line = /^halyard_evaluation_answers_total\{operation="usage",status="204"\} (\d+)$/m.exec(text);
  return Number(line?.[1] ?? 0);
}

test.each(PRESENT.map(({ name, ...runtime }) => [name, runtime] as const))(
  'the built package works in %s, and lets the process end',
  async (_, { command, flags }) => {
    const before = Date.now();
    const reports = await reportsTaken();
    await management.putState('shop', 'production', 'smoke', { enabled: true, value: before });
    const child = Bun.spawn([command, ...flags, 'smoke.mjs', key.key, `${storage.url}shop/production`], {
      cwd: built.application,
      env: {
        PATH: process.env.PATH ?? '',
        HOME: built.application,
        HALYARD_URL: node.url,
        NO_COLOR: '1',
        DENO_NO_UPDATE_CHECK: '1',
      },
      stdout: 'pipe',
      stderr: 'pipe',
    });

    const errors = new Response(child.stderr).text();
    const lines: string[] = [];
    let rest = '';
    for await (const piece of child.stdout.pipeThrough(new TextDecoderStream())) {
      rest += piece;
      const parts = rest.split('\n');
      rest = parts.pop() ?? '';
      lines.push(...parts);
      if (lines.length === 1) {
        expect(JSON.parse(lines[0] ?? '')).toEqual({ status: 'ready', before });
        await management.putState('shop', 'production', 'smoke', { enabled: true, value: before + 1 });
      }
    }

    expect(await errors).toBe('');
    expect(await child.exited).toBe(0);
    expect(JSON.parse(lines[1] ?? '')).toEqual({
      after: before + 1,
      failed: 'failed',
      refused: 'invalid_options',
      rollout: true,
      double: true,
      stored: { x: { enabled: true } },
      published: [1, 'ready'],
      errors: ['network_error'],
      disposable: true,
    });

    expect(await reportsTaken()).toBe(reports + 1);
  },
  60_000,
);
