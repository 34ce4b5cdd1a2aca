import { afterAll, beforeAll, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type CreatedKey, Management, type NodeProcess, startNode } from '@halyard/testing';
import { type BuiltPackage, builtPackage } from './support/built-package.ts';

const MODULES = resolve(import.meta.dir, '../../../node_modules');
const PLATFORM = `${process.platform}-${process.arch}`;

let node: NodeProcess;
let management: Management;
let key: CreatedKey;
let built: BuiltPackage;

beforeAll(async () => {
  [node, built] = await Promise.all([startNode(), builtPackage()]);
  management = new Management(node);
  await management.createProject('shop');
  key = await management.createKey('shop', ['production']);
  await copyFile(join(import.meta.dir, 'fixtures/smoke.mjs'), join(built.application, 'smoke.mjs'));
}, 60_000);
afterAll(async () => {
  await node.stop();
});

/** The runtimes that are here; those from npm are missing only where npm has none for this machine. */
const RUNTIMES: readonly (readonly [name: string, command: string | null, flags: readonly string[]])[] = [
  ['Bun', process.execPath, []],
  ['the Node of this machine', Bun.which('node'), ['--unhandled-rejections=strict']],
  ['Node from npm', join(MODULES, `node-${PLATFORM}/bin/node`), ['--unhandled-rejections=strict']],
  ['Deno from npm', join(MODULES, `@deno/${PLATFORM}-glibc/deno`), ['run', '--quiet', '--allow-net']],
];
const PRESENT = RUNTIMES.filter(([, command]) => command !== null && existsSync(command));

test('there are at least two runtimes to try', () => {
  expect(PRESENT.length).toBeGreaterThanOrEqual(2);
});

test.each(PRESENT.map(([name, command, flags]) => [name, { command: command ?? '', flags }] as const))(
  'the built package works in %s, and lets the process end',
  async (_, { command, flags }) => {
    const before = Date.now();
    await management.putState('shop', 'production', 'smoke', { enabled: true, value: before });
    const child = Bun.spawn([command, ...flags, 'smoke.mjs', node.url, key.key], {
      cwd: built.application,
      env: {
        PATH: process.env.PATH ?? '',
        HOME: built.application,
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
      errors: ['network_error'],
      disposable: true,
    });
  },
  60_000,
);
