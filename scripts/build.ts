/**
 * Builds the one executable file and tries it: `bun run build` writes `dist/halyard`, and the licenses of what is in it. With
 * `--target linux-arm64`, or another platform, it builds for that one, and tries it only where it runs.
 */
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { buildExecutable, TARGETS } from './build-executable.ts';
import { checkExecutable } from './check-executable.ts';
import { thirdPartyNotices } from './release/notices.ts';

const outfile = resolve(import.meta.dir, '../dist/halyard');
const here = `${process.platform}-${process.arch}`;

const { values } = parseArgs({ options: { target: { type: 'string', default: here } } });
const target = TARGETS.find((known) => known === `bun-${values.target}`);
if (target === undefined && values.target !== here) {
  process.stderr.write(
    `error: ${values.target} is not a platform that Halyard is built for: ${TARGETS.map((known) => known.slice('bun-'.length)).join(', ')}\n`,
  );
  process.exit(2);
}

await buildExecutable(outfile, values.target === here ? undefined : target);
if (values.target === here) await checkExecutable(outfile);
await Bun.write(resolve(import.meta.dir, '../dist/THIRD-PARTY-NOTICES'), await thirdPartyNotices());
process.stdout.write(`dist/halyard (${(Bun.file(outfile).size / 1e6).toFixed(0)} MB)\n`);
