import { afterEach, beforeEach, expect, test } from 'bun:test';
import { chmodSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TemporaryFolder, temporaryFolder } from '@halyard/testing';
import { ADMIN_TOKEN_FILE, adminTokenIn } from './admin-token.ts';

const FIRST = 'hat_the-first-token';
const SECOND = 'hat_the-second-token';

let folder: TemporaryFolder;
let path: string;
beforeEach(() => {
  folder = temporaryFolder();
  path = folder.file(ADMIN_TOKEN_FILE);
});
afterEach(() => {
  // Not every user may empty a folder that is closed to writers.
  chmodSync(folder.path, 0o700);
  folder.remove();
});

function modeOf(file: string): number {
  return statSync(file).mode & 0o777;
}

/** Runs `work` as a user whom file modes bind: root may do everything. */
function asOrdinaryUser<T>(work: () => T): T {
  if (process.geteuid?.() !== 0) return work();
  process.seteuid?.(65_534);
  try {
    return work();
  } finally {
    process.seteuid?.(0);
  }
}

test('a token is created once, readable by its owner only', () => {
  expect(adminTokenIn(folder.path, () => FIRST)).toBe(FIRST);
  expect(adminTokenIn(folder.path, () => SECOND)).toBe(FIRST);
  expect(modeOf(path)).toBe(0o600);
});

test('two processes that start in one folder use the same token', () => {
  const other = () => adminTokenIn(folder.path, () => SECOND);
  const mine = adminTokenIn(folder.path, () => {
    other();
    return FIRST;
  });
  expect([mine, adminTokenIn(folder.path, () => 'hat_the-third-token')]).toEqual([SECOND, SECOND]);
});

test('an empty file is filled', () => {
  writeFileSync(path, '\n');
  expect(adminTokenIn(folder.path, () => FIRST)).toBe(FIRST);
  expect(adminTokenIn(folder.path, () => SECOND)).toBe(FIRST);
});

test('a file that others may read is restricted to its owner', () => {
  writeFileSync(path, FIRST, { mode: 0o644 });
  expect(adminTokenIn(folder.path, () => SECOND)).toBe(FIRST);
  expect(modeOf(path)).toBe(0o600);
});

test('a symbolic link is refused, and its target keeps its mode', () => {
  const target = folder.file('target');
  writeFileSync(target, FIRST, { mode: 0o644 });
  symlinkSync(target, path);
  expect(() => adminTokenIn(folder.path, () => SECOND)).toThrow(
    /admin-token is a symbolic link\. .*HALYARD_ADMIN_TOKEN_FILE/,
  );
  expect(modeOf(target)).toBe(0o644);
});

test.each(['short', 'with a space in its midst'])(
  'a token that the setting would refuse is refused: %j',
  (token) => {
    writeFileSync(path, token, { mode: 0o600 });
    expect(() => adminTokenIn(folder.path, () => SECOND)).toThrow(
      /must hold at least 16 printable ASCII characters/,
    );
  },
);

test('reads a token from a folder that is not writable', () => {
  writeFileSync(path, FIRST, { mode: 0o600 });
  chmodSync(folder.path, 0o500);
  expect(adminTokenIn(folder.path, () => SECOND)).toBe(FIRST);
});

test('names a folder in which no token can be created, with the reason', () => {
  chmodSync(folder.path, 0o555);
  const start = () => asOrdinaryUser(() => adminTokenIn(folder.path, () => FIRST));
  expect(start).toThrow(
    `The data folder ${folder.path} cannot be written (permission denied). Let this user write there, or choose ` +
      'another one with --data.',
  );
  expect(readdirSync(folder.path)).toEqual([]);
});

test('names a folder that cannot be created, with the reason', () => {
  writeFileSync(folder.file('file'), '');
  expect(() => adminTokenIn(folder.file('file/data'), () => FIRST)).toThrow(
    /data cannot be created \(a part of the path is a file\)\. Choose another one with --data/,
  );
});

test('names a token of another user that cannot be restricted, with the reason', () => {
  chmodSync(folder.path, 0o755);
  writeFileSync(path, FIRST, { mode: 0o644 });
  const start = () => asOrdinaryUser(() => adminTokenIn(folder.path, () => SECOND));
  // Without root's rights the file belongs to this user, who can restrict it.
  if (process.geteuid?.() !== 0) expect(start()).toBe(FIRST);
  else {
    expect(start).toThrow(
      `Other users can read ${path}, and its mode cannot be changed (operation not permitted). Run chmod 600 ${path} as`,
    );
  }
});

test('names a folder in place of the token, with the reason', () => {
  mkdirSync(path);
  expect(() => adminTokenIn(folder.path, () => FIRST)).toThrow(
    `${join(folder.path, ADMIN_TOKEN_FILE)} cannot be read`,
  );
});
