#!/usr/bin/env -S bun --no-env-file --config=/dev/null
// These options keep the settings (.env) and the code (bunfig.toml) of the current folder out.
import { outliveClosedOutput } from './cli/closed-output.ts';
import { runCli } from './cli/program.ts';
import { processShell } from './cli/shell.ts';
import { processEnvironment } from './config/config.ts';

const argv = process.argv.slice(2);
outliveClosedOutput(argv[0]);
process.exitCode = await runCli(argv, processShell(processEnvironment()));
