import { expect, test } from 'bun:test';
import { join } from 'node:path';

const ROOT = join(import.meta.dir, '..');

const { scripts } = await Bun.file(join(ROOT, 'package.json')).json();
const guide = await Bun.file(join(ROOT, 'CONTRIBUTING.md')).text();
const named = [...guide.matchAll(/^npx --yes bun@\S+ run (\w+)/gm)].map(([, script = '']) => script);

test('the guide for contributors names scripts', () => {
  expect(named).toContain('check');
});

test.each([...named, 'format'])('in a fresh clone `run %s` brings what it needs', (script) => {
  expect(scripts[script]).toStartWith('bun install --frozen-lockfile');
});
