/** Builds the one executable file and tries it: `bun run build` writes `dist/halyard`, and the licenses of what is in it. */
import { resolve } from 'node:path';
import { buildExecutable } from './build-executable.ts';
import { checkExecutable } from './check-executable.ts';
import { thirdPartyNotices } from './release/notices.ts';

const outfile = resolve(import.meta.dir, '../dist/halyard');

await buildExecutable(outfile);
await checkExecutable(outfile);
await Bun.write(resolve(import.meta.dir, '../dist/THIRD-PARTY-NOTICES'), await thirdPartyNotices());
process.stdout.write(`dist/halyard (${(Bun.file(outfile).size / 1e6).toFixed(0)} MB)\n`);
