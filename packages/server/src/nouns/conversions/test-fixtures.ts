import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ConversionRules } from './conversion.ts';
import type { SourceFile } from './convert.ts';
import type { ServiceName } from './services.ts';
import { parseSource } from './source-text.ts';

/** An export of a service, written for the tests in the shape of a real one. */
export interface Fixture {
  readonly service: ServiceName;
  readonly file: string;
  /** The environment, for services whose files do not name it. */
  readonly environment?: string;
  /** What the command line needs beside it. */
  readonly options?: readonly string[];
}

/** The folder of the fixtures: exports, and what becomes of them. */
export const FIXTURES = join(import.meta.dir, 'fixtures');

/** One export of every service. */
export const EXPORTS: readonly Fixture[] = [
  { service: 'unleash', file: 'unleash.json' },
  { service: 'launchdarkly', file: 'launchdarkly.json' },
  { service: 'flagsmith', file: 'flagsmith.json', environment: 'production' },
  { service: 'flagd', file: 'flagd.json', environment: 'production' },
  { service: 'goff', file: 'goff.yaml', environment: 'production' },
  { service: 'flipt', file: 'flipt.yaml', environment: 'production', options: ['--namespace', 'default'] },
  { service: 'growthbook', file: 'growthbook.json' },
  { service: 'configcat', file: 'configcat.json', environment: 'production' },
];

/** The rules without any option, but for the namespace of the fixture of Flipt. */
export const STRICT_RULES: ConversionRules = {
  keepOn: false,
  offIsDefault: false,
  parseJson: false,
  namespace: 'default',
};

/** A fixture as it is converted. */
export function sourceOf({ file, environment }: Fixture): SourceFile {
  const data = parseSource(file, readFileSync(join(FIXTURES, file), 'utf8'));
  return { name: file, data, ...(environment !== undefined && { environment }) };
}
