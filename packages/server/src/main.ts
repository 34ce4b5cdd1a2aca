#!/usr/bin/env -S bun --no-env-file --config=/dev/null
// These options keep the current folder's settings (.env) and code (bunfig.toml) out.
import { runCli } from './cli/program.ts';
import { handleOutputErrors, processShell } from './cli/shell.ts';
import { processEnvironment } from './config/config.ts';

if (Bun.isMainThread) {
  const argv = process.argv.slice(2);
  handleOutputErrors(argv[0]);
  process.exitCode = await runCli(argv, processShell(processEnvironment()));
} else {
  // A thread of the compiled program begins here too.
  await import('./nodes/management-thread-entry.ts');
}
