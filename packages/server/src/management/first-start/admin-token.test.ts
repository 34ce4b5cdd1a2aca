import { afterEach, beforeEach, expect, test } from 'bun:test';
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TemporaryFolder, temporaryFolder } from '@halyard/testing';
import { ADMIN_TOKEN_FILE, adminTokenIn } from './admin-token.ts';

let folder: TemporaryFolder;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

test('a token is made once, readable by its owner only', () => {
  expect(adminTokenIn(folder.path, () => 'first')).toBe('first');
  expect(adminTokenIn(folder.path, () => 'second')).toBe('first');
  expect(statSync(join(folder.path, ADMIN_TOKEN_FILE)).mode & 0o777).toBe(0o600);
});

test('of two processes that start in one folder, both take the token of the first', () => {
  const other = () => adminTokenIn(folder.path, () => 'other');
  const mine = adminTokenIn(folder.path, () => {
    other();
    return 'mine';
  });
  expect([mine, adminTokenIn(folder.path, () => 'third')]).toEqual(['other', 'other']);
});

test('an empty file is filled', () => {
  writeFileSync(join(folder.path, ADMIN_TOKEN_FILE), '\n');
  expect(adminTokenIn(folder.path, () => 'mine')).toBe('mine');
  expect(adminTokenIn(folder.path, () => 'second')).toBe('mine');
});
