import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CACHE, type Language } from './languages.ts';
import { type PreparedProgram, prepare } from './programs.ts';

/** A client of ours in another language: its program, and its own tests. */
export interface OwnClient extends Language {
  readonly source: string;
  /** Runs its tests, most of them against the server of broken behaviors. They start it with `bun`. */
  readonly test: readonly string[];
}

const at = (language: string) => join(import.meta.dir, '../clients', language);
const builtAt = (language: string) => join(CACHE, 'clients', language);

/** What our clients answer otherwise than OFREP's providers, all for the same reasons. */
const CASES = {
  'a key of one environment, which need not be named': {
    expected: { value: false, errorCode: 'PROVIDER_FATAL' },
    because: 'a client needs the name of its environment',
  },
  'a revoked key': {
    expected: { value: true, reason: 'STATIC', variant: 'on' },
    because: 'a client keeps the flags that it has when they cannot be loaded again',
  },
} as const;

/** Our clients, in the order in which they run. */
export const CLIENTS: readonly OwnClient[] = [
  {
    folder: 'clients/python',
    source: at('python'),
    provider: 'halyard-flags',
    needs: ['python3'],
    install: [
      ['python3', '-m', 'venv', builtAt('python')],
      [`${builtAt('python')}/bin/pip`, 'install', '--quiet', '--disable-pip-version-check', '.[dev]'],
    ],
    build: [],
    run: [`${builtAt('python')}/bin/python`, 'interop/main.py'],
    test: [`${builtAt('python')}/bin/python`, '-m', 'pytest', '-q'],
    differences: {
      cases: {
        ...CASES,
        null: {
          expected: { value: {}, errorCode: 'TYPE_MISMATCH' },
          because: 'to OpenFeature in Python, an object is a dictionary or a list',
        },
      },
    },
  },
  {
    folder: 'clients/go',
    source: at('go'),
    provider: 'github.com/halyard-flags/halyard/clients/go',
    needs: ['go'],
    install: [['go', 'mod', 'download']],
    build: [['go', 'build', '-o', builtAt('go'), './internal/interop']],
    run: [builtAt('go')],
    test: ['go', 'test', '-count=1', './...'],
    differences: { cases: CASES },
  },
  {
    folder: 'clients/java',
    source: at('java'),
    provider: 'dev.halyard:halyard-openfeature-provider',
    needs: ['java', 'mvn'],
    install: [
      ['mvn', '-q', '-B', 'dependency:build-classpath', '-Dmdep.outputFile=target/interop-classpath'],
    ],
    build: [['mvn', '-q', '-B', 'test-compile']],
    run: [
      'sh',
      '-c',
      'exec java -cp "target/classes:target/test-classes:$(cat target/interop-classpath)" dev.halyard.Interop',
    ],
    test: ['mvn', '-q', '-B', 'test'],
    differences: { cases: CASES },
  },
];

/** Builds a client. Gives how to start its program, or why that is not possible here. */
export async function prepareClient(client: OwnClient): Promise<PreparedProgram | string> {
  if (!existsSync(client.source)) return 'its folder is not there';
  const prepared = await prepare(client);
  if (typeof prepared === 'string') return prepared;

  const PATH = `${dirname(process.execPath)}:${prepared.env.PATH}`;
  return { ...prepared, env: { ...prepared.env, PATH } };
}
