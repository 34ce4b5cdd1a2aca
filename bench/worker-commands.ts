/** The commands of a worker: each takes one plain object or nothing, and returns one. */
// `never`: commands take arguments of their own kind, and all of them must fit here.
export type WorkerCommands = Record<string, (argument: never) => unknown>;

/** A command on its way to a worker. */
export interface WorkerRequest {
  readonly id: number;
  readonly name: string;
  readonly argument: unknown;
}

/** The message of a worker when a command has ended. */
export interface WorkerReply {
  readonly id: number;
  readonly result?: unknown;
  readonly problem?: string;
}

/** Answers the commands of the process that started this one, until it ends this one. */
export function serveCommands(commands: WorkerCommands): void {
  process.on('message', (request: WorkerRequest) => void run(commands, request));
  process.on('disconnect', () => process.exit());
}

async function run(commands: WorkerCommands, { id, name, argument }: WorkerRequest): Promise<void> {
  try {
    // `Worker.ask` has checked name and argument against these very commands.
    const result = await (commands[name] as (argument: unknown) => unknown)(argument);
    process.send?.({ id, result } satisfies WorkerReply);
  } catch (error) {
    process.send?.({ id, problem: String(error) } satisfies WorkerReply);
  }
}
