import type { Bench } from '../bench.ts';
import { expectRight, type Place, type Recipe } from '../running.ts';
import { oneOf, type PeerFlag } from './flags.ts';

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

/** What a recipe is made for. */
export interface RecipeInput extends Place {
  readonly bench: Bench;
  readonly program: string;
  readonly flags: readonly PeerFlag[];
}

/** The version number that a program prints for `--version` or the like, or `as given` if it prints none. */
export async function versionOf(command: readonly string[]): Promise<string> {
  const child = Bun.spawn([...command], { stdin: 'ignore', stdout: 'pipe', stderr: 'pipe', timeout: 10_000 });
  const text = `${await new Response(child.stdout).text()}${await new Response(child.stderr).text()}`;
  // Not the time that a log begins with.
  return /\bv?(\d{1,4}\.\d{1,4}\.\d[\w.-]*)/.exec(text)?.[1] ?? 'as given';
}

/** Checks that an answer shows every flag. Returns how many it shows. */
export function checkKeys(shown: readonly string[], flags: readonly PeerFlag[]): number {
  const keys = new Set(shown);
  const missing = flags.find(({ key }) => !keys.has(key));
  expectRight(missing === undefined, `${missing?.key} is missing`);
  return keys.size;
}

/** Checks that an answer shows every flag with its state. Returns how many it shows. */
export function checkStates(
  shown: readonly { readonly name: string; readonly enabled: boolean }[],
  flags: readonly PeerFlag[],
): number {
  const states = new Map(shown.map(({ name, enabled }) => [name, enabled]));
  // A service that evaluates may have either answer for a flag that half of all keys have.
  const wrong = flags.find(
    ({ key, enabled, rolloutPct }) => rolloutPct === undefined && states.get(key) !== enabled,
  );
  expectRight(wrong === undefined, `${wrong?.key} is ${states.get(wrong?.key ?? '')}`);
  return checkKeys([...states.keys()], flags);
}

/** The two OFREP requests. Some answer for enabled flags only. */
export function ofrepRequests(
  url: string,
  flags: readonly PeerFlag[],
  shows: 'all' | 'enabled',
  keyHeaders: Readonly<Record<string, string>> = {},
) {
  const path = `${url}/ofrep/v1/evaluate/flags`;
  const one = oneOf(flags);
  const headers = { 'Content-Type': 'application/json', ...keyHeaders };
  const body = JSON.stringify({ context: { targetingKey: 'user-4711' } });
  type Answer = { key: string; flags: { key: string }[] };
  const keyIn = (text: string) => [(JSON.parse(text) as Answer).key];
  const keysIn = (text: string) => (JSON.parse(text) as Answer).flags.map(({ key }) => key);
  const expected = shows === 'all' ? flags : flags.filter(({ enabled }) => enabled);
  return {
    ofrepOne: {
      url: `${path}/${one.key}`,
      headers,
      body,
      check: (text: string) => checkKeys(keyIn(text), [one]),
    },
    ofrepAll: { url: path, headers, body, check: (text: string) => checkKeys(keysIn(text), expected) },
  };
}
