import { join } from 'node:path';
import { guardProcess, within } from '@halyard/testing';
import { PATIENCE_MS } from './bench.ts';
import { type Machine, pinned, type Role } from './machine.ts';
import type { WorkerCommands, WorkerReply, WorkerRequest } from './worker-commands.ts';

/** A process of the bench: a load generator, or a server to compare with. It cannot outlive this one. */
export class Worker<Commands extends WorkerCommands> implements AsyncDisposable {
  readonly #child: Bun.Subprocess;
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>();
  #count = 0;

  /** Starts a file of `workers/` on the core of its role. */
  constructor(machine: Machine, file: string, role: Role) {
    const command = [process.execPath, join(import.meta.dir, 'workers', file)];
    this.#child = Bun.spawn(pinned(machine, role, command), {
      stdin: 'ignore',
      stdout: 'ignore',
      stderr: 'inherit',
      // Only our own workers write here, and `serveCommands` sends nothing else.
      ipc: (reply: WorkerReply) => this.#settle(reply),
    });
    const guard = guardProcess(this.#child.pid);
    void this.#child.exited.then(() => {
      guard.release();
      for (const { reject } of this.#waiting.values()) reject(new Error(`${file} has ended`));
    });
  }

  get pid(): number {
    return this.#child.pid;
  }

  /** Runs a command in the worker and returns its result. Rejects when the command does, or the worker ends. */
  ask<Name extends keyof Commands & string>(
    name: Name,
    ...[argument]: Parameters<Commands[Name]>
  ): Promise<Awaited<ReturnType<Commands[Name]>>> {
    const request: WorkerRequest = { id: ++this.#count, name, argument };
    const waiting = Promise.withResolvers<unknown>();
    this.#waiting.set(request.id, waiting);
    this.#child.send(request);
    // The worker's own commands are typed by the same `Commands`.
    return within(`the end of "${name}"`, waiting.promise, PATIENCE_MS) as Promise<
      Awaited<ReturnType<Commands[Name]>>
    >;
  }

  /** Ends the process and waits. Safe to call twice. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#child.exited;
  }

  #settle(reply: WorkerReply): void {
    const waiting = this.#waiting.get(reply.id);
    this.#waiting.delete(reply.id);
    if (reply.problem === undefined) waiting?.resolve(reply.result);
    else waiting?.reject(new Error(reply.problem));
  }
}
