import { join } from 'node:path';
import type { Subprocess } from 'bun';
import type { Answers, FromWorker, Question, ToWorker } from './messages.ts';

/** The command of a worker process, which only the supervisor runs. */
export const WORKER_COMMAND = 'worker';

/** Longest the supervisor waits for the answer of a worker, in milliseconds. */
const ANSWER_MS = 1000;

/** Callbacks of a {@link WorkerProcess}. */
export interface WorkerListener {
  onMessage(message: FromWorker): void;
  /** The process has ended; `how` says in words with which code or signal. */
  onExit(how: string): void;
}

/** One worker process, from the supervisor's side. The channel between the two ends with either of them. */
export class WorkerProcess {
  readonly #child: Subprocess;
  readonly #waiting = new Map<number, (answer: unknown) => void>();
  #isGone = false;
  #asked = 0;

  constructor(listener: WorkerListener) {
    this.#child = Bun.spawn(commandOf(), {
      env: environmentOf(process.env),
      stdin: 'ignore',
      stdout: 'inherit',
      stderr: 'inherit',
      serialization: 'json',
      ipc: (message: FromWorker) => {
        if (message.kind === 'answer') this.#waiting.get(message.id)?.(message.answer);
        else listener.onMessage(message);
      },
      onExit: (_, code, signal) => {
        this.#isGone = true;
        for (const resolve of this.#waiting.values()) resolve(undefined);
        listener.onExit(signal === null ? `exit code ${code}` : `signal ${signal}`);
      },
    });
  }

  get pid(): number {
    return this.#child.pid;
  }

  /** Sends a message; one to a process that has ended is dropped. */
  send(message: ToWorker): void {
    if (this.#isGone) return;
    try {
      this.#child.send(message);
    } catch {
      // It ended in this moment; `onExit` reports it.
    }
  }

  /** Asks the worker; `undefined` when it does not answer within a second, or ends. */
  async ask<Asked extends Question>(question: Asked): Promise<Answers[Asked] | undefined> {
    if (this.#isGone) return undefined;
    const id = ++this.#asked;
    const { promise, resolve } = Promise.withResolvers<unknown>();
    this.#waiting.set(id, resolve);
    const timer = setTimeout(resolve, ANSWER_MS, undefined);
    this.send({ kind: 'ask', id, question });
    const answer = await promise;
    clearTimeout(timer);
    this.#waiting.delete(id);
    // A worker answers what it was asked.
    return answer as Answers[Asked] | undefined;
  }

  /** Ends it at once; this also ends a frozen process. */
  kill(): void {
    this.#child.kill('SIGKILL');
  }
}

/** The same program: an executable has everything in itself; otherwise Bun runs the source, without the folder's own settings. */
function commandOf(): string[] {
  const isExecutable = import.meta.dir.startsWith('/$bunfs/');
  if (isExecutable) return [process.execPath, WORKER_COMMAND];
  const main = join(import.meta.dir, '../main.ts');
  return [process.execPath, '--no-env-file', '--config=/dev/null', main, WORKER_COMMAND];
}

/** The environment of a worker: no setting of the node, so no secret either; what it needs comes over the channel. */
function environmentOf(
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string | undefined> {
  const kept = Object.entries(env).filter(([name]) => !name.startsWith('HALYARD_'));
  // Every dashboard holds a request open, and Bun allows 256 by default.
  return { ...Object.fromEntries(kept), BUN_CONFIG_MAX_HTTP_REQUESTS: '65336' };
}
