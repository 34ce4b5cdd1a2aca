import { guardProcess } from '@halyard/testing';

/** An executable that serves, from a folder of its own. */
export interface ServingExecutable {
  /** Base address, without a slash at the end. */
  readonly url: string;
  readonly pid: number;
  /** Runs another command of the same executable against this server and returns its standard output. */
  run(...words: readonly string[]): Promise<string>;
  /** Ends it with SIGTERM and returns its exit code. */
  stop(): Promise<number>;
}

/** An executable by its path, or the words of a command that runs it somewhere else, such as in an image. */
export type Executable = string | readonly string[];

/** The environment of an executable. */
export interface ServeOptions {
  /** An empty folder: nothing of the repository may be needed. */
  readonly folder: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Starts `halyard serve` on a free port and waits until it listens. Rejects with its output when it does not. */
export async function serveExecutable(
  executable: Executable,
  options: ServeOptions,
): Promise<ServingExecutable> {
  const start = [executable].flat();
  const env = { HALYARD_LOG_FORMAT: 'json', HALYARD_DRAIN_SECONDS: '0', ...options.env };
  const spawnOptions = { cwd: options.folder, env, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' } as const;
  const server = Bun.spawn([...start, 'serve', '--bare', '--port', '0'], spawnOptions);
  const guard = guardProcess(server.pid);
  void server.exited.then(() => guard.release());
  const url = await listeningUrl(server.stdout);
  if (url === undefined) {
    throw new Error(`the executable does not serve:\n${await new Response(server.stderr).text()}`);
  }
  return {
    url,
    pid: server.pid,
    run: async (...words) => {
      const command = Bun.spawn([...start, ...words, '--url', url], spawnOptions);
      const [output, problems] = await Promise.all([
        new Response(command.stdout).text(),
        new Response(command.stderr).text(),
      ]);
      if ((await command.exited) !== 0) throw new Error(`halyard ${words.join(' ')} failed:\n${problems}`);
      return output;
    },
    stop: async () => {
      server.kill('SIGTERM');
      return await server.exited;
    },
  };
}

/** Reads on in the background, so that the server never waits for a full pipe. */
function listeningUrl(output: ReadableStream<Uint8Array>): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  void (async () => {
    let text = '';
    for await (const bytes of output) {
      text += new TextDecoder().decode(bytes);
      const url = /"url":"([^"]+)"[^\n]*"msg":"listening"/.exec(text)?.[1];
      if (url !== undefined) resolve(url.replace(/\/$/, ''));
    }
    resolve(undefined);
  })();
  return promise;
}
