import { join } from 'node:path';
import type { ProviderDifferences } from './try-provider.ts';

/** A program in some language, and the provider that it drives. */
export interface Language {
  /** Its folder, and its name on the command line. */
  readonly folder: string;
  /** Where its source is and where it runs, if that is not the folder of this name here. */
  readonly source?: string;
  /** The package of the provider, as its registry calls it. */
  readonly provider: string;
  /** Commands that must be on the machine. */
  readonly needs: readonly string[];
  /** Installs packages. A failure means that the registry or the package is not available, and skips the language. */
  readonly install: readonly (readonly string[])[];
  /** Compiles. A failure is ours. */
  readonly build: readonly (readonly string[])[];
  readonly run: readonly string[];
  readonly differences: ProviderDifferences;
}

/** The programs, in the order in which they run. */
export const LANGUAGES: readonly Language[] = [
  {
    // Not OFREP: the provider of our client, which must answer what the others do.
    folder: 'halyard',
    provider: '@halyard/client/openfeature/server',
    needs: [],
    install: [],
    build: [],
    run: [process.execPath, 'main.mjs'],
    differences: {
      cases: {
        'a key of one environment, which need not be named': {
          expected: { value: false, errorCode: 'PROVIDER_FATAL' },
          because: 'the client needs the name of its environment',
        },
        'a revoked key': {
          expected: { value: true, reason: 'STATIC', variant: 'on' },
          because: 'the client keeps the flags that it has when they cannot be loaded again',
        },
      },
    },
  },
  {
    folder: 'javascript',
    provider: '@openfeature/ofrep-provider',
    needs: ['node'],
    install: [],
    build: [],
    run: ['node', 'main.mjs'],
    differences: { codeDefault: 'GENERAL' },
  },
  {
    folder: 'web',
    provider: '@openfeature/ofrep-web-provider',
    needs: [],
    install: [],
    build: [],
    run: [process.execPath, 'main.ts'],
    differences: {
      isBulk: true,
      cases: {
        'a revoked key': {
          expected: { value: true, reason: 'STATIC', variant: 'on' },
          because: 'a page keeps the flags that it has when they cannot be loaded again',
        },
      },
    },
  },
  {
    folder: 'python',
    provider: 'openfeature-provider-ofrep',
    needs: ['python3'],
    install: [
      ['python3', '-m', 'venv', '.venv'],
      ['.venv/bin/pip', 'install', '--quiet', '--disable-pip-version-check', '-r', 'requirements.txt'],
    ],
    build: [],
    run: ['.venv/bin/python', 'main.py'],
    differences: {
      cases: {
        'integer read as float': {
          expected: { value: 1.5, errorCode: 'TYPE_MISMATCH' },
          because: 'Python keeps integers and floats apart: read a whole number as an integer',
        },
        null: {
          expected: { value: {}, errorCode: 'TYPE_MISMATCH' },
          because: 'an object is a dictionary or a list',
        },
      },
    },
  },
  {
    folder: 'java',
    provider: 'dev.openfeature.contrib.providers:ofrep',
    needs: ['java', 'mvn'],
    install: [['mvn', '-q', '-B', 'dependency:build-classpath', '-Dmdep.outputFile=classpath']],
    build: [['mvn', '-q', '-B', 'compile']],
    run: ['sh', '-c', 'exec java -cp "target/classes:$(cat classpath)" Main'],
    differences: {
      codeDefault: 'FLAG_NOT_FOUND',
      errorCodes: { TARGETING_KEY_MISSING: 'INVALID_CONTEXT' },
      cases: {
        'integer read as float': {
          expected: { value: 1.5, errorCode: 'TYPE_MISMATCH' },
          because: 'Java keeps Integer and Double apart: read a whole number as an integer',
        },
        null: {
          expected: { value: {}, errorCode: 'FLAG_NOT_FOUND' },
          because: 'null counts as no value',
        },
        'a key with a space': {
          expected: { value: true, errorCode: 'GENERAL' },
          because: 'keys are put into the address as they are, and URI refuses a space',
        },
        'a text read as object': {
          expected: { value: 'Fair winds, ⛵ "sailor"', reason: 'STATIC', variant: 'on' },
          because: 'Value holds any JSON',
        },
      },
    },
  },
  {
    folder: 'rust',
    provider: 'open-feature-ofrep',
    needs: ['cargo'],
    install: [['cargo', 'fetch', '--quiet']],
    build: [['cargo', 'build', '--quiet']],
    run: ['cargo', 'run', '--quiet'],
    differences: {
      // The reason is always STATIC, and the metadata always empty.
      omits: ['reason', 'metadata'],
      codeDefault: 'PARSE_ERROR',
      errorCodes: { TYPE_MISMATCH: 'PARSE_ERROR', TARGETING_KEY_MISSING: 'INVALID_CONTEXT' },
      cases: {
        array: { expected: { value: [], errorCode: 'PARSE_ERROR' }, because: 'an object is a struct' },
        null: { expected: { value: {}, errorCode: 'PARSE_ERROR' }, because: 'an object is a struct' },
      },
    },
  },
  {
    folder: 'go',
    provider: 'github.com/open-feature/go-sdk-contrib/providers/ofrep',
    needs: ['go'],
    install: [['go', 'mod', 'download']],
    build: [['go', 'build', '-o', 'interop', '.']],
    run: ['./interop'],
    differences: {
      cases: {
        off: {
          expected: { value: true, reason: 'DISABLED', variant: 'off' },
          because: 'where a flag is off, the default in the code counts, whatever the server answers',
        },
        'a rollout that is off': {
          expected: { value: true, reason: 'DISABLED', variant: 'off' },
          because: 'as above',
        },
        'outside of a rollout with a value': {
          expected: { value: 'default', errorCode: 'TYPE_MISMATCH' },
          because: 'an answer without a value is no text',
        },
        'a text read as object': {
          expected: { value: 'Fair winds, ⛵ "sailor"', reason: 'STATIC', variant: 'on' },
          because: 'an object is any value',
        },
      },
    },
  },
];

/** Where packages, compiled programs and tools keep their files; git ignores it. */
export const CACHE = join(import.meta.dir, '.cache');

/**
 * The environment of a program: this one's, with the caches of the package clients in {@link CACHE}. Their settings stay
 * where they are.
 */
export function toolEnvironment(): Record<string, string> {
  const cache = (name: string) => join(CACHE, 'tools', name);
  return {
    ...(process.env as Record<string, string>),
    CARGO_HOME: cache('cargo'),
    CARGO_TARGET_DIR: cache('cargo-target'), // shared, since the example has the same dependencies
    GOPATH: cache('go'),
    GOCACHE: cache('go-build'),
    GOFLAGS: '-modcacherw -buildvcs=false',
    GOTOOLCHAIN: 'local', // no other Go than the one on the machine
    MAVEN_OPTS: `-Dmaven.repo.local=${cache('maven')}`,
    PIP_CACHE_DIR: cache('pip'),
    npm_config_cache: cache('npm'),
    npm_config_audit: 'false',
    npm_config_fund: 'false',
    npm_config_update_notifier: 'false',
  };
}
