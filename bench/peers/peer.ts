import { lastingPort, type TemporaryFolder, temporaryFolder } from '@halyard/testing';
import type { Bench } from '../bench.ts';
import { expectRight, type Program, type Running, startProgram } from '../running.ts';
import { ONE, type PeerFlag } from './flags.ts';

/** A service beside which Halyard is measured, or Halyard itself: what it is, how it starts, what it answers. */
export interface Peer {
  readonly name: string;
  /** How it is set up, for the tables: what it checks, evaluates and stores. */
  readonly remark: string;
  /** The option that names its program, as `flagd` in `--flagd PATH`; absent where it is found without one. */
  readonly option?: string;
  /** Its program, from the options and the machine; or a sentence that says where it was looked for. */
  readonly find: (places: Places) => { readonly program: string } | { readonly missing: string };
  /** The version that runs, as it says itself. */
  readonly version: (program: string) => Promise<string>;
  readonly recipe: (input: RecipeInput) => Promise<Recipe>;
}

/** Where programs may be. */
export interface Places {
  /** By option; `folder` is that of `--install`. */
  readonly paths: Readonly<Record<string, string>>;
  readonly bench: Bench;
}

/** What a recipe is made for: the flags, and a folder and a port for the program. */
export interface RecipeInput {
  readonly bench: Bench;
  readonly program: string;
  readonly flags: readonly PeerFlag[];
  readonly folder: TemporaryFolder;
  readonly port: number;
  readonly url: string;
}

/** How to start a peer, and what it then answers. */
export interface Recipe extends Pick<Running, 'requests' | 'stream'> {
  /** Its first answer is that of a read where the flags are there from the start. */
  readonly program: Program;
  /** Puts the flags into the running service. */
  readonly fill?: () => Promise<void>;
  /** Ends what the recipe itself has started. */
  readonly end?: () => Promise<unknown>;
}

/** A filled peer. */
export interface RunningPeer extends Running {
  readonly startMs: number;
}

/** Starts a peer with these flags. Rejects when it does not come up. */
export async function startPeer(
  bench: Bench,
  peer: Peer,
  program: string,
  flags: readonly PeerFlag[],
): Promise<RunningPeer> {
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(temporaryFolder());
  const port = lastingPort();
  const url = `http://127.0.0.1:${port}`;
  const recipe = await peer.recipe({ bench, program, flags, folder, port, url });
  stack.defer(async () => void (await recipe.end?.()));
  const { pids, startMs } = stack.use(await startProgram(bench.machine, recipe.program));
  await recipe.fill?.();

  const owned = stack.move();
  const { requests, stream } = recipe;
  return {
    pids,
    startMs,
    ...(requests && { requests }),
    ...(stream && { stream }),
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}

/** The version number that a program prints for `--version` or the like, or `as given` if it prints none. */
export async function versionOf(command: readonly string[]): Promise<string> {
  const child = Bun.spawn([...command], { stdin: 'ignore', stdout: 'pipe', stderr: 'pipe', timeout: 10_000 });
  const text = `${await new Response(child.stdout).text()}${await new Response(child.stderr).text()}`;
  // Not the time that a log begins with.
  return /\bv?(\d{1,4}\.\d{1,4}\.\d[\w.-]*)/.exec(text)?.[1] ?? 'as given';
}

/** Every flag, with its state. Returns how many there are. */
export function checkStates(
  shown: readonly { readonly name: string; readonly enabled: boolean }[],
  flags: readonly PeerFlag[],
): number {
  const states = new Map(shown.map(({ name, enabled }) => [name, enabled]));
  // Who evaluates may have either answer for a flag that half of all keys have.
  const wrong = flags.find(
    ({ key, enabled, rolloutPct }) =>
      !states.has(key) || (rolloutPct === undefined && states.get(key) !== enabled),
  );
  expectRight(wrong === undefined, `${wrong?.key} is ${states.get(wrong?.key ?? '')}`);
  return shown.length;
}

/** The two OFREP requests. Some answer for enabled flags only. */
export function ofrepRequests(
  url: string,
  flags: readonly PeerFlag[],
  shows: 'all' | 'enabled',
  keyHeaders: Readonly<Record<string, string>> = {},
): Pick<NonNullable<Running['requests']>, 'ofrepOne' | 'ofrepAll'> {
  const headers = { 'Content-Type': 'application/json', ...keyHeaders };
  const path = `${url}/ofrep/v1/evaluate/flags`;
  const body = JSON.stringify({ context: { targetingKey: 'user-4711' } });
  const one = flags[ONE] ?? flags[0];
  return {
    ofrepOne: {
      url: `${path}/${one?.key}`,
      headers,
      body,
      check: (text) => {
        const { key } = JSON.parse(text) as { key: unknown };
        expectRight(key === one?.key, text.slice(0, 100));
        return 1;
      },
    },
    ofrepAll: {
      url: path,
      headers,
      body,
      check: (text) => {
        const answers = (JSON.parse(text) as { flags: { key: string }[] }).flags;
        const shown = new Set(answers.map(({ key }) => key));
        const wrong = flags.find(({ key, enabled }) => (enabled || shows === 'all') && !shown.has(key));
        expectRight(wrong === undefined, `${wrong?.key} is missing`);
        return shown.size;
      },
    },
  };
}
