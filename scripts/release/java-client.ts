import { cp } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { run } from './check-client.ts';

const FOLDER = resolve(import.meta.dir, '../../clients/java');
const ARTIFACT = 'halyard-openfeature-provider';

/** The name of each file of the client for Java, as Maven repositories call them, and where the build leaves it. */
export function javaFiles(version: string): ReadonlyMap<string, string> {
  const jars = ['', '-sources', '-javadoc'].map((kind) => `${ARTIFACT}-${version}${kind}.jar`);
  return new Map([
    ...jars.map((jar): [string, string] => [jar, join(FOLDER, 'target', jar)]),
    [`${ARTIFACT}-${version}.pom`, join(FOLDER, 'pom.xml')],
  ]);
}

/**
 * Builds the client for Java and copies its jar, with those of its sources and its documentation, and its POM to a folder. Returns why not,
 * if a tool is missing here; rejects when it cannot be built.
 */
export async function buildJavaClient(
  out: string,
  version: string,
  modifiedAt: Date,
): Promise<string | undefined> {
  const missing = ['java', 'mvn'].find((command) => Bun.which(command) === null);
  if (missing !== undefined) return `there is no ${missing}`;

  const time = modifiedAt.toISOString().replace(/\.\d+Z$/, 'Z');
  const options = [
    '--quiet',
    '--batch-mode',
    '-Dmaven.test.skip=true',
    `-Dproject.build.outputTimestamp=${time}`,
  ];
  await run(FOLDER, 'mvn', ...options, 'clean', 'package');

  for (const [name, source] of javaFiles(version)) await cp(source, join(out, name));
  return undefined;
}
