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

/**
 * Makes an empty folder, readable by this user only. It goes at the latest when this process ends, in whatever way.
 */
export function temporaryFolder(): TemporaryFolder {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'halyard-')));
  chmodSync(path, 0o700);
  removeAtTheEnd(path);
  const remove = () => rmSync(path, { recursive: true, force: true });
  return { path, file: (name) => join(path, name), remove, [Symbol.dispose]: remove };
}

let sweeper: Bun.Subprocess<'pipe', 'ignore', 'ignore'> | undefined;

/**
 * A test run ends without notice, so a shell waits on a pipe that only this process holds, and removes the folders
 * named there when the pipe closes. It ignores Ctrl-C, which reaches the whole group.
 */
function removeAtTheEnd(path: string): void {
  if (sweeper === undefined) {
    const script = 'trap "" INT TERM HUP; while read -r path; do set -- "$@" "$path"; done; rm -rf -- "$@"';
    sweeper = Bun.spawn(['/bin/sh', '-c', script, 'sweeper'], {
      stdin: 'pipe',
      stdout: 'ignore',
      stderr: 'ignore',
    });
    sweeper.unref();
  }
  sweeper.stdin.write(`${path}\n`);
  void sweeper.stdin.flush();
}
