import { describe, expect, test } from 'bun:test';
import { mkdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { temporaryFolder } from '@halyard/testing';
import { FileIdentities, IN_MEMORY } from './file-identities.ts';

const STRIKES: readonly [string, string, (path: string) => void][] = [
  ['the database is removed', 'halyard.db', (path) => rmSync(path)],
  ['the database is replaced', 'halyard.db', (path) => renameSync(fileAt(`${path}.new`), path)],
  ['the log is removed', 'halyard.db-wal', (path) => rmSync(`${path}-wal`)],
  ['the log is replaced', 'halyard.db-wal', (path) => renameSync(fileAt(`${path}.new`), `${path}-wal`)],
];

describe.each([
  ['just after the folder has changed', Date.now],
  ['long after the folder has changed', () => Date.now() + 60_000],
])('%s', (_, now) => {
  test.each(STRIKES)('is refused: %s', (_, name, strike) => {
    using opened = openFiles();
    const identities = new FileIdentities(opened.path, now);
    identities.check();
    strike(opened.path);
    expect(() => identities.check()).toThrow(`The file ${name} was removed or replaced while in use`);
    expect(() => identities.check()).toThrow('restart Halyard');
  });

  test('is refused: a restored copy, whose folder got back the time it had', () => {
    using opened = openFiles();
    const yesterday = Math.floor(Date.now() / 1000) - 86_400;
    utimesSync(opened.folder, yesterday, yesterday);
    const identities = new FileIdentities(opened.path, now);
    identities.check();
    renameSync(fileAt(`${opened.path}.new`), opened.path);
    utimesSync(opened.folder, yesterday, yesterday);
    expect(() => identities.check()).toThrow('halyard.db was removed or replaced');
  });

  test('is refused: another folder in its place', () => {
    using opened = openFiles();
    const identities = new FileIdentities(opened.path, now);
    identities.check();
    renameSync(opened.folder, `${opened.folder}.old`);
    makeFiles(opened.folder);
    expect(() => identities.check()).toThrow('removed or replaced');
  });

  test('is refused: what a link names is replaced in its own folder', () => {
    using opened = openFiles();
    const link = `${opened.folder}-link`;
    mkdirSync(link);
    symlinkSync(opened.path, `${link}/halyard.db`);
    const identities = new FileIdentities(`${link}/halyard.db`, now);
    identities.check();
    rmSync(`${opened.path}-wal`);
    expect(() => identities.check()).toThrow('halyard.db-wal was removed or replaced');
  });

  test('is accepted: other files come and go, and the database is written to', () => {
    using opened = openFiles();
    const identities = new FileIdentities(opened.path, now);
    for (const name of ['a', 'b', 'c']) {
      fileAt(`${opened.folder}/${name}`);
      writeFileSync(opened.path, name);
      identities.check();
      rmSync(`${opened.folder}/${name}`);
      identities.check();
    }
  });
});

test('a database in memory has no files', () => {
  new FileIdentities(IN_MEMORY).check();
});

/** A folder of its own with the two files of an open database. */
function openFiles() {
  const home = temporaryFolder();
  const folder = home.file('data');
  return { folder, path: makeFiles(folder), [Symbol.dispose]: () => home[Symbol.dispose]() };
}

function makeFiles(folder: string): string {
  mkdirSync(folder);
  fileAt(`${folder}/halyard.db-wal`);
  return fileAt(`${folder}/halyard.db`);
}

function fileAt(path: string): string {
  writeFileSync(path, '');
  return path;
}
