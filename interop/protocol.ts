import type { Json } from '@halyard/protocol';
import { within } from '@halyard/testing';

/** The typed reads of OpenFeature. Languages with one type of number use it for both. */
export type FlagType = 'boolean' | 'string' | 'integer' | 'float' | 'object';

/** One read. */
export interface Evaluation {
  readonly type: FlagType;
  readonly key: string;
  readonly default: Json;
  readonly targetingKey?: string;
  /** More members of the evaluation context. */
  readonly attributes?: Readonly<Record<string, Json>>;
}

/** What a program says first: what it is made of. */
export interface ProgramFacts {
  /** Version of the provider. */
  readonly provider: string;
  /** Name and version of the runtime. */
  readonly runtime: string;
}

/** What OpenFeature answered a read. A provider that does not pass something on leaves it out. */
export interface EvaluationAnswer {
  readonly value: Json;
  readonly reason?: string;
  readonly variant?: string;
  readonly errorCode?: string;
  readonly metadata?: Readonly<Record<string, Json>>;
}

/** What a program says of a flag that it watches. */
export interface WatchedFlag {
  readonly key: string;
  /** That of the client's flags. */
  readonly revision: number;
  readonly enabled: boolean;
  /** Absent if the flag has none, or perhaps while it is off. */
  readonly value?: Json;
}

/** How long a program may take for one step. Compilers have run before. */
const STEP_MS = 60_000;

/**
 * A program that drives a published provider. It reads one step per line as JSON and answers each with one line; README.md
 * describes the steps. It ends when its input does.
 */
export class ProviderProgram implements AsyncDisposable {
  readonly #child: Bun.Subprocess<'pipe', 'pipe', 'pipe'>;
  /** The answer to the step that was asked last; `undefined` when the program has ended. */
  #next = Promise.withResolvers<unknown>();
  readonly #errors: Promise<string>;
  #onWatched: (flag: WatchedFlag) => void = () => {};

  private constructor(command: readonly string[], cwd: string, env: Readonly<Record<string, string>>) {
    this.#child = Bun.spawn([...command], { cwd, env, stdin: 'pipe', stdout: 'pipe', stderr: 'pipe' });
    void this.#listen();
    this.#errors = new Response(this.#child.stderr).text();
  }

  /** Starts a program. Rejects, with what it wrote, when it ends before it has introduced itself. */
  static async start(
    command: readonly string[],
    { cwd, env }: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
  ): Promise<{ readonly program: ProviderProgram; readonly facts: ProgramFacts }> {
    const program = new ProviderProgram(command, cwd, env);
    // The programs are ours, and a wrong answer fails the case that reads it.
    const facts = (await program.#answer('its introduction')) as ProgramFacts;
    return { program, facts };
  }

  /** Makes a provider for a base address, with headers, and waits until it is ready or has failed. */
  async connect(url: string, headers: Readonly<Record<string, string>>): Promise<void> {
    await this.#ask({ do: 'connect', url, headers });
  }

  /** Reads one flag. */
  async evaluate(evaluation: Evaluation): Promise<EvaluationAnswer> {
    // As in `start`.
    return (await this.#ask({ do: 'evaluate', ...evaluation })) as EvaluationAnswer;
  }

  /** Reads one flag for many targets, and gives the values. */
  async evaluateMany(
    evaluation: Omit<Evaluation, 'targetingKey'>,
    targetingKeys: readonly string[],
  ): Promise<readonly Json[]> {
    // As in `start`.
    const answer = (await this.#ask({ do: 'evaluateMany', ...evaluation, targetingKeys })) as {
      readonly values: readonly Json[];
    };
    return answer.values;
  }

  /** Asks a program whose provider loads all flags at once how often each status answered it. */
  async statuses(): Promise<Readonly<Record<string, number>>> {
    // As in `start`.
    return (await this.#ask({ do: 'statuses' })) as Record<string, number>;
  }

  /** Reads a boolean again and again for so long. Gives the milliseconds that one read took. */
  async time(key: string, ms: number): Promise<number> {
    // As in `start`.
    const { reads, nanoseconds } = (await this.#ask({ do: 'time', key, targetingKey: 'user-1', ms })) as {
      readonly reads: number;
      readonly nanoseconds: number;
    };
    return nanoseconds / reads / 1e6;
  }

  /** The bytes that the program's values take. In Python those since the first call, which is why nothing is timed after it. */
  async memory(): Promise<number> {
    // As in `start`.
    return ((await this.#ask({ do: 'memory' })) as { readonly bytes: number }).bytes;
  }

  /**
   * Follows a flag of the connection: calls `onWatched` with the flag as it is, and after each change. Another call replaces
   * the listener.
   */
  async watch(key: string, onWatched: (flag: WatchedFlag) => void): Promise<void> {
    this.#onWatched = onWatched;
    await this.#send({ do: 'watch', key });
  }

  /** The process id. */
  get pid(): number {
    return this.#child.pid;
  }

  /** Ends the program. Safe to call twice. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#child.stdin.end();
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), 5_000);
    await this.#child.exited;
    clearTimeout(timer);
  }

  async #send(step: Readonly<Record<string, unknown>>): Promise<void> {
    this.#child.stdin.write(`${JSON.stringify(step)}\n`);
    await this.#child.stdin.flush();
  }

  async #ask(step: Readonly<Record<string, unknown>>): Promise<unknown> {
    await this.#send(step);
    return await this.#answer(JSON.stringify(step).slice(0, 200));
  }

  /** Takes lines as they come: an answer, or news of a watched flag. */
  async #listen(): Promise<void> {
    for await (const line of linesOf(this.#child.stdout)) {
      const data = JSON.parse(line);
      // Only news have a revision; the programs are ours.
      if ('revision' in data) this.#onWatched(data as WatchedFlag);
      else this.#next.resolve(data);
    }
    this.#next.resolve(undefined);
  }

  async #answer(what: string): Promise<unknown> {
    const answer = await within(`the program answers ${what}`, this.#next.promise, STEP_MS);
    if (answer === undefined)
      throw new Error(`The program ended before ${what}. It wrote:\n${await this.#errors}`);
    this.#next = Promise.withResolvers();
    return answer;
  }
}

async function* linesOf(stream: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<string> {
  let rest = '';
  for await (const piece of stream.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + piece).split('\n');
    rest = lines.pop() ?? '';
    // Some runtimes write notes of their own; answers are objects.
    yield* lines.filter((line) => line.startsWith('{'));
  }
}
