import { afterAll, beforeAll, expect, test } from 'bun:test';
import { join } from 'node:path';
import { TARGETS } from './cases.ts';
import { LANGUAGES } from './languages.ts';
import { ProviderProgram } from './protocol.ts';
import { tryProvider } from './try-provider.ts';
import { openWorld, type World } from './world.ts';

// Our own provider, and those that npm has; `bun run interop` tries those of other languages.
let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

test.each([
  ['halyard', TARGETS],
  ['javascript', TARGETS],
  // A page loads all flags again for each target.
  ['web', TARGETS.slice(0, 50)],
] as const)(
  'the %s provider answers every case as expected',
  async (folder, targets) => {
    const language = LANGUAGES.find((each) => each.folder === folder);
    const { program } = await ProviderProgram.start([process.execPath, ...(language?.run.slice(1) ?? [])], {
      cwd: join(import.meta.dir, folder),
      env: process.env as Record<string, string>,
    });
    await using _ = program;
    const { failures, passed } = await tryProvider(program, world, language?.differences ?? {}, targets);
    expect(failures).toEqual([]);
    expect(passed).toBeGreaterThan(40);
  },
  60_000,
);
