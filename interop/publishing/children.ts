import { guardProcess } from '@halyard/testing';

/** A server that this run has started. */
export interface ChildServer extends AsyncDisposable {
  /** Its address, without a slash at the end. */
  readonly url: string;
}

/** Starts a third-party server and waits until it answers at `url`. It cannot outlive this process. */
export async function startServer(
  command: readonly string[],
  url: string,
  env: Readonly<Record<string, string>>,
): Promise<ChildServer> {
  const child = Bun.spawn([...command], { env, stdin: 'ignore', stdout: 'ignore', stderr: 'pipe' });
  const guard = guardProcess(child.pid);
  const errors = new Response(child.stderr).text();
  const ended = child.exited.then(() => guard.release());

  while (!(await answers(url))) {
    if (child.exitCode !== null) throw new Error(`${command[0]} ended:\n${await errors}`);
    await Bun.sleep(20);
  }
  return {
    url,
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

async function answers(url: string): Promise<boolean> {
  return await fetch(url).then(
    () => true,
    () => false,
  );
}
