/** Keeps a child from outliving this process. */
export interface ProcessGuard {
  /** Ends the guard; call it when the child has ended, before its id can be used again. */
  release(): void;
}

/**
 * Sees to it that the process `pid` is killed when this one ends, in whatever way, SIGKILL included: a shell waits
 * on a pipe that only this process holds, and kills the child when the pipe closes. It ignores Ctrl-C, which reaches the whole group.
 */
export function guardProcess(pid: number): ProcessGuard {
  const shell = Bun.spawn(
    ['/bin/sh', '-c', `trap "" INT TERM; read -r line; [ "$line" = released ] || kill -9 ${pid}`],
    {
      stdin: 'pipe',
      stdout: 'ignore',
      stderr: 'ignore',
    },
  );
  shell.unref();
  let released = false;
  return {
    release: () => {
      if (released) return;
      released = true;
      shell.stdin.write('released\n');
      // The shell reads the line and ends; whether it is still there no longer matters.
      void Promise.resolve(shell.stdin.end()).catch(() => undefined);
    },
  };
}
