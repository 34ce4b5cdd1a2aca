import type { Command } from 'commander';
import { type ConnectionFlags, resolveConnection } from '../config/connection.ts';
import { ApiClient } from './api-client.ts';
import type { OutputOptions } from './output.ts';
import type { Shell } from './shell.ts';

/** What every command that talks to a server can be told. */
export interface CommandOptions extends ConnectionFlags, OutputOptions {}

/** Adds `--url`, `--token`, `--data` and `--json`. */
export function addConnectionOptions(command: Command): Command {
  return command
    .option('--json', 'write JSON, also on a terminal')
    .option('--url <url>', 'the server; else HALYARD_URL, else this machine at HALYARD_PORT or 7070')
    .option('--token <token>', 'the access token; better in HALYARD_TOKEN, where other users cannot see it')
    .option('--data <folder>', 'the data folder of a server on this machine, for its admin-token');
}

/** The client for the server that options and environment name. */
export function connect(shell: Shell, options: ConnectionFlags): ApiClient {
  return new ApiClient(resolveConnection(options, shell.env));
}
