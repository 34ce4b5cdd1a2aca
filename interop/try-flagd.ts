import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { evaluate, type Json } from '@halyard/protocol';
import { until } from '@halyard/testing';
import { CASES, type Case, FLAGS, ROLLOUTS, TARGETS, UNTARGETED } from './cases.ts';
import { CACHE } from './languages.ts';
import { prepare } from './programs.ts';
import { type Evaluation, ProviderProgram } from './protocol.ts';
import type { World } from './world.ts';

/** A version of flagd or of one of its providers. */
interface FlagdProgram {
  readonly name: string;
  readonly folder: string;
  readonly needs: readonly string[];
  readonly install: readonly (readonly string[])[];
  readonly build: readonly (readonly string[])[];
  readonly run: readonly string[];
  /** Whether it reads from the node, as flagd does; otherwise from the file that `halyard export` writes. */
  readonly isSynced?: true;
  /** Whether its rollouts choose the users that Halyard chooses. */
  readonly choosesSame: boolean;
  /** Cases in which its language has another type for a value; the caller's default counts there. */
  readonly mismatches: readonly string[];
}

const ON = { type: 'boolean', key: 'on', default: false } as const;

/** Answers that are the caller's default everywhere: flagd has no `null`. */
const LEFT_OUT = ['null'];

const python = (version: string, core: string): Omit<FlagdProgram, 'name' | 'choosesSame'> => ({
  folder: 'flagd/python',
  needs: ['python3'],
  install: [
    ['python3', '-m', 'venv', `.venv-${version}`],
    [
      `.venv-${version}/bin/pip`,
      'install',
      '--quiet',
      '--disable-pip-version-check',
      'openfeature-sdk==0.10.0',
      `openfeature-provider-flagd==${version}`,
      `openfeature-flagd-core==${core}`,
    ],
  ],
  build: [],
  run: [`.venv-${version}/bin/python`, 'main.py'],
  mismatches: [],
});

/** The programs. docs/operations/flagd.md names their versions. */
export const FLAGD_PROGRAMS: readonly FlagdProgram[] = [
  {
    name: 'flagd',
    folder: 'flagd/go',
    needs: ['go'],
    install: [['go', 'mod', 'download']],
    build: [['go', 'build', '-o', 'interop', '.']],
    run: ['./interop'],
    isSynced: true,
    choosesSame: true,
    mismatches: ['array'],
  },
  { ...python('0.5.2', '1.0.0'), name: 'Python 0.5.2', choosesSame: true },
  { ...python('0.6.1', '2.0.0'), name: 'Python 0.6.1', choosesSame: false },
];

/** How a program fared. */
export interface FlagdOutcome {
  readonly version: string;
  readonly runtime: string;
  readonly result: string;
  readonly failures: readonly string[];
}

/** Lets one program read the flags of the world, and compares its values with OFREP's. Returns why, if it was skipped. */
export async function tryFlagd(each: FlagdProgram, world: World): Promise<FlagdOutcome | string> {
  const prepared = await prepare(each);
  if (typeof prepared === 'string') return prepared;

  const { program, facts } = await ProviderProgram.start(each.run, prepared);
  await using _ = program;
  const trial = new Trial(each, program, world);
  await trial.run();
  return {
    version: facts.provider,
    runtime: facts.runtime,
    result: trial.failures.length === 0 ? `${trial.total} values as over OFREP` : 'failed',
    failures: trial.failures,
  };
}

/** The cases of one program. */
class Trial {
  readonly failures: string[] = [];
  total = 0;
  readonly #traits: FlagdProgram;
  readonly #program: ProviderProgram;
  readonly #world: World;
  readonly #file = join(CACHE, `flagd-${crypto.randomUUID()}.json`);

  constructor(traits: FlagdProgram, program: ProviderProgram, world: World) {
    this.#traits = traits;
    this.#program = program;
    this.#world = world;
  }

  async run(): Promise<void> {
    try {
      await this.#connect();
      for (const each of [...CASES, ...UNTARGETED]) await this.#value(each);
      for (const key of ROLLOUTS) await this.#users(key);
      if (this.#traits.isSynced) await this.#changes();
      await this.#connect('omit');
      // Over OFREP, `user-5` is outside.
      const half = { type: 'boolean', key: 'half', default: true, targetingKey: 'user-5' } as const;
      await this.#read('an omitted rollout', half, true);
      await this.#read('a flag beside it', ON, true);
    } finally {
      await rm(this.#file, { force: true });
    }
  }

  /** Connects flagd with the node, and a provider with the file that an export gives. */
  async #connect(rollouts = 'include', key = this.#world.key): Promise<void> {
    const { url, management } = this.#world;
    if (this.#traits.isSynced) {
      const address = `${url}/flagd/v1/flags.json?env=production&rollouts=${rollouts}`;
      await this.#program.connect(address, { Authorization: `Bearer ${key}` });
      return;
    }
    const path = `/api/projects/interop/environments/production/flagd?rollouts=${rollouts}`;
    await writeFile(this.#file, JSON.stringify(await management.request('GET', path)));
    await this.#program.connect(this.#file, {});
  }

  async #value({ name, read, expected }: Case): Promise<void> {
    const isDefault = [...LEFT_OUT, ...this.#traits.mismatches].includes(name);
    // A partial rollout concerns other users in some versions.
    if (!this.#traits.choosesSame && ['half', 'half-text'].includes(read.key) && read.targetingKey) return;
    await this.#read(name, read, isDefault ? read.default : expected.value);
  }

  /** Whether the same users are in a rollout. */
  async #users(key: string): Promise<void> {
    const values = await this.#program.evaluateMany({ type: 'boolean', key, default: false }, TARGETS);
    const { rolloutPct = 100 } = FLAGS.find((flag) => flag.key === key)?.state ?? {};
    const state = { enabled: true, rolloutPct };
    const others = TARGETS.filter((target, index) => values[index] !== evaluate(key, state, target).isOn);
    const isSame = others.length === 0;
    this.total++;
    if (isSame === this.#traits.choosesSame) return;
    this.failures.push(
      `${this.#traits.name}: ${key} concerns others among ${TARGETS.length} users: ${others.length}`,
    );
  }

  /** A change arrives, a wrong key opens nothing, and a revoked one leaves the flags as they are. */
  async #changes(): Promise<void> {
    const { management } = this.#world;
    const { id, key } = await management.createKey('interop', ['production']);
    await this.#connect('include', key);
    const put = (value: string) =>
      management.putState('interop', 'production', 'changed', { enabled: true, value });
    const arrives = (value: string) =>
      until(`the value ${value} arrives`, async () => {
        const read = { type: 'string', key: 'changed', default: '' } as const;
        return (await this.#program.evaluate(read)).value === value;
      });
    await put('after');
    await arrives('after');
    // A value that flagd cannot read does not keep others from changing.
    await this.#world.write('odd', '{"enabled":true,"value":1e400}');
    await put('before');
    await arrives('before');
    await management.request('DELETE', '/api/projects/interop/environments/production/flags/odd');

    await management.revokeKey(id);
    await this.#read('the flags of a revoked key', ON, true);
    await this.#connect('include', key);
    await this.#read('a start with a revoked key', ON, ON.default);
  }

  async #read(name: string, read: Evaluation, expected: Json): Promise<void> {
    this.#expect(name, (await this.#program.evaluate(read)).value, expected);
  }

  #expect(name: string, value: Json, expected: Json): void {
    this.total++;
    if (Bun.deepEquals(value, expected)) return;
    const [got, wanted] = [value, expected].map((each) => JSON.stringify(each));
    this.failures.push(`${this.#traits.name}: ${name}: expected ${wanted}, got ${got}`);
  }
}
