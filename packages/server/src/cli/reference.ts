import { ERROR_CODES, ERROR_STATUS, isErrorCode } from '@halyard/protocol';
import { resolveAddress } from '../config/connection.ts';
import { nearestName } from '../config/describe-settings.ts';
import { COMMIT, VERSION } from '../version.ts';
import { ApiClient, apiPath } from './api-client.ts';
import { CliError, EXIT } from './cli-error.ts';
import { localCommand } from './command.ts';
import { CONNECTION } from './options.ts';
import { formatTable, type OutputOptions, wantsJson } from './output.ts';
import type { Shell } from './shell.ts';

/** `halyard errors` */
export const errorsCommand = localCommand({
  usage: 'errors [code]',
  about: 'List the error codes of the API, or explain one. Needs no server.',
  options: { json: CONNECTION.json },
  examples: ['halyard errors revision_conflict'],
  run: ({ code, ...options }, shell) =>
    code === undefined ? listErrors(shell, options) : explainError(code, shell, options),
});

async function listErrors(shell: Shell, options: OutputOptions): Promise<void> {
  const { ERROR_PAGES, readErrorPage } = await import('../http/docs/pages.ts');
  const errors = ERROR_CODES.map((code) => readErrorPage(code, ERROR_PAGES[code]));
  if (wantsJson(shell, options)) {
    const brief = errors.map(({ error, status, title }) => ({ error, status, title }));
    return shell.write(`${JSON.stringify({ errors: brief })}\n`);
  }
  const rows = errors.map(({ error, title }) => [
    error,
    `${ERROR_STATUS[error]}`,
    title.replace(/^`?\w+`?: /, ''),
  ]);
  shell.write(formatTable(['CODE', 'STATUS', 'MEANING'], rows));
}

async function explainError(code: string, shell: Shell, options: OutputOptions): Promise<void> {
  if (!isErrorCode(code)) {
    const nearest = nearestName(code, ERROR_CODES);
    const hint =
      nearest === undefined ? 'Run "halyard errors" to see all codes.' : `Did you mean ${nearest}?`;
    throw new CliError(`Unknown error code "${code}". ${hint}`, { exitCode: EXIT.notFound });
  }
  const { ERROR_PAGES, readErrorPage } = await import('../http/docs/pages.ts');
  if (!wantsJson(shell, options)) return shell.write(ERROR_PAGES[code]);
  shell.write(`${JSON.stringify(readErrorPage(code, ERROR_PAGES[code]))}\n`);
}

/** `halyard openapi` */
export const openapiCommand = localCommand({
  usage: 'openapi',
  about: 'Print the OpenAPI document of the server. Needs no token.',
  options: { url: CONNECTION.url, profile: CONNECTION.profile },
  examples: ['halyard openapi > openapi.json'],
  run: async (options, shell) => {
    // Not `connect`: an unreadable token file must not fail a command that needs no token.
    const client = new ApiClient(resolveAddress(options, shell.env), () => {});
    const { text } = await client.request({ path: apiPath`/openapi.json`, isPublic: true });
    shell.write(text.endsWith('\n') ? text : `${text}\n`);
  },
});

/** `halyard version` */
export const versionCommand = localCommand({
  usage: 'version',
  about: 'Print the version and commit of this program, and the version of its runtime.',
  options: { json: CONNECTION.json },
  run: (options, shell) => {
    const { platform, arch } = process;
    const facts = { version: VERSION, commit: COMMIT, bun: Bun.version, platform, arch };
    const build = COMMIT === undefined ? 'from source' : `commit ${COMMIT}`;
    const sentence = `halyard ${VERSION} (${build}, Bun ${Bun.version}, ${platform} ${arch})`;
    shell.write(`${wantsJson(shell, options) ? JSON.stringify(facts) : sentence}\n`);
  },
});
