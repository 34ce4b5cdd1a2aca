#!/usr/bin/env bun
import { runCli } from './cli/program.ts';
import { processShell } from './cli/shell.ts';
import { processEnvironment } from './config.ts';

process.exitCode = await runCli(process.argv.slice(2), processShell(processEnvironment()));
