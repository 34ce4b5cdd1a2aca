import type { Command } from 'commander';
import { type ConnectionFlags, resolveAddress } from '../config/connection.ts';
import { ApiClient, apiPath } from './api-client.ts';
import type { Shell } from './shell.ts';

/** `halyard openapi` */
export function defineOpenapi(program: Command, shell: Shell): void {
  program
    .command('openapi')
    .description('Print the OpenAPI document of the server. Needs no token.')
    .option('--url <url>', 'the server; else HALYARD_URL, else http://127.0.0.1:7070')
    .addHelpText('after', '\nExample:\n  halyard openapi > openapi.json')
    .action(async (options: ConnectionFlags) => {
      // Without looking for a token: none is needed, so that one which cannot be read must not be in the way.
      const client = new ApiClient(resolveAddress(options, shell.env));
      const { text } = await client.request({ path: apiPath`/openapi.json`, isPublic: true });
      shell.write(text.endsWith('\n') ? text : `${text}\n`);
    });
}
