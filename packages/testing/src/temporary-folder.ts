import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder for one test. Works with `using`. */
export interface TemporaryFolder extends Disposable {
  readonly path: string;
  /** The path of something in it. */
  file(name: string): string;
  /** Removes it with all that is in it. Safe to call twice; done at the end of the process in any case. */
  remove(): void;
}

const folders = new Set<TemporaryFolder>();

process.on('exit', () => {
  for (const folder of folders) folder.remove();
});

/** Makes an empty folder, readable by this user only, that is removed at the end of the process at the latest. */
export function temporaryFolder(): TemporaryFolder {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'halyard-')));
  chmodSync(path, 0o700);
  const remove = () => {
    folders.delete(folder);
    rmSync(path, { recursive: true, force: true });
  };
  const folder = { path, file: (name: string) => join(path, name), remove, [Symbol.dispose]: remove };
  folders.add(folder);
  return folder;
}
