import { symlinkSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { temporaryFolder } from '@halyard/testing';
import { buildPackage } from '../../scripts/build.ts';

/** The package as it would be published, and a folder in which it is installed beside its peers. */
export interface BuiltPackage {
  /** The published files. */
  readonly folder: string;
  /** An empty application that has the package in its `node_modules`. */
  readonly application: string;
}

const MODULES = resolve(import.meta.dir, '../../../../node_modules');

/** Builds the package into a temporary folder and installs it into an application next to it. */
export async function builtPackage(): Promise<BuiltPackage> {
  const root = temporaryFolder().path;
  const application = join(root, 'application');
  const folder = join(application, 'node_modules/@halyard/client');
  await buildPackage(folder);
  for (const peer of [
    'react',
    'react-dom',
    'scheduler',
    '@openfeature',
    '@opentelemetry',
    '@types',
    'csstype',
  ]) {
    symlinkSync(join(MODULES, peer), join(application, 'node_modules', peer));
  }
  await Bun.write(join(application, 'package.json'), '{"type":"module"}');
  await mkdir(application, { recursive: true });
  return { folder, application };
}
