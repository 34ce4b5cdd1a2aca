import type { Command } from 'commander';
import { type ApiClient, apiPath } from './api-client.ts';
import { CliError, EXIT } from './cli-error.ts';
import { addConnectionOptions, type CommandOptions, connect } from './connection-options.ts';
import { defineFlagArchive } from './flag-archive.ts';
import { defineFlagList } from './flag-list.ts';
import { conditionHeaders, patchBody, type StateOptions } from './flag-options.ts';
import { noteHeader } from './note-header.ts';
import { printAnswer, shortTime, wantsJson } from './output.ts';
import type { Shell } from './shell.ts';
import { describeState, describeStep } from './state-text.ts';

interface FlagOptions extends CommandOptions {
  readonly project: string;
  readonly env: string;
}

interface SetOptions extends FlagOptions, StateOptions {
  readonly note?: string;
  readonly expect?: string;
}

interface UpdateOptions extends CommandOptions {
  readonly project: string;
  readonly description?: string;
  readonly tags?: string;
  readonly owner?: string;
  readonly note?: string;
}

/** `halyard flag set|get|update|list|archive|restore|delete` */
export function defineFlag(program: Command, shell: Shell): void {
  const flag = program.command('flag').description('Change and read the flags of a project.');
  const add = (usage: string, description: string) =>
    flag
      .command(usage)
      .description(description)
      .requiredOption('--project <project>', 'the project')
      .requiredOption('--env <environment>', 'the environment');
  addConnectionOptions(
    add('set <key>', 'Change a flag in one environment, or make it there. What is not said stays as it is.')
      .option('--on', 'switch it on')
      .option('--off', 'switch it off')
      .option('--value <json>', 'give it a value: any JSON')
      .option('--no-value', 'take its value away')
      .option('--rollout <percent>', 'while it is on, only for this share of targeting keys: 0 to 100')
      .option('--no-rollout', 'remove the rollout: while it is on, on for everyone')
      .option('--note <why>', 'why; kept in the audit log')
      .option(
        '--expect <revision>',
        'only if the flag still has this revision, or "none": only if it does not exist',
      )
      .addHelpText('after', SET_EXAMPLES),
  ).action((key: string, options: SetOptions) => setFlag(shell, key, options));
  addConnectionOptions(add('get <key>', 'Show a flag in one environment.')).action(
    async (key: string, options: FlagOptions) => {
      const answer = await connect(shell, options).request({ path: flagPath(key, options) });
      printAnswer(shell, options, answer, (fields) =>
        [
          `${key} in ${options.env} of ${options.project}`,
          `  state     ${describeState(fields.any('state'))}`,
          `  revision  ${fields.number('revision')}`,
          `  changed   ${shortTime(fields.optionalText('updatedAt'))}`,
          '',
        ].join('\n'),
      );
    },
  );
  addConnectionOptions(
    flag
      .command('update <key>')
      .description('Change the description, the tags or the owner of a flag, in all environments.')
      .requiredOption('--project <project>', 'the project')
      .option('--description <text>', 'what it is for')
      .option('--tags <tags>', 'all its tags, separated by commas; "" for none')
      .option('--owner <owner>', 'who looks after it; "" for nobody')
      .option('--note <why>', 'why; kept in the audit log')
      .addHelpText('after', UPDATE_EXAMPLE),
  ).action((key: string, options: UpdateOptions) => updateFlag(shell, key, options));
  defineFlagList(flag, shell);
  defineFlagArchive(flag, shell);
}

const UPDATE_EXAMPLE = `
Example:
  halyard flag update new-checkout --project shop --description "The checkout of 2027" --tags release,web --owner payments`;

async function updateFlag(shell: Shell, key: string, options: UpdateOptions): Promise<void> {
  const { project, description, owner, note } = options;
  const tags = options.tags
    ?.split(',')
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '');
  const body = JSON.stringify({ description, tags, owner });
  if (body === '{}') {
    throw new CliError('Nothing to change was given: add --description, --tags or --owner.', {
      exitCode: EXIT.usage,
    });
  }
  const path = apiPath`/projects/${project}/flags/${key}`;
  const request = { method: 'PATCH', path, body, headers: noteHeader(note) } as const;
  const answer = await connect(shell, options).request(request);
  printAnswer(shell, options, answer, () => `Flag ${key} of ${project} was changed.\n`);
}

const SET_EXAMPLES = `
Examples:
  halyard flag set new-checkout --project shop --env production --on --note "launch day"
  halyard flag set new-checkout --project shop --env production --on --rollout 25
  halyard flag set banner --project shop --env staging --on --value '"Winter sale"'
  halyard flag set limits --project shop --env staging --value '{"perUser": 5}' --expect 41`;

async function setFlag(shell: Shell, key: string, options: SetOptions): Promise<void> {
  const request = {
    method: 'PATCH' as const,
    path: flagPath(key, options),
    body: patchBody(options),
    headers: { ...noteHeader(options.note), ...conditionHeaders(options.expect) },
  };
  const client = connect(shell, options);
  const before = await currentState(client, request.path);
  const answer = await client.request(request);
  const { fields } = answer;
  const revision = fields.boolean('changed') ? `revision ${fields.number('revision')}` : 'nothing to change';
  const step = describeStep(before, fields.any('state'));
  const line = `${key} in ${options.env} of ${options.project}: ${step} (${revision})\n`;
  if (!wantsJson(shell, options)) return shell.write(line);
  shell.writeError(line);
  shell.write(`${answer.text.trim()}\n`);
}

/** The state before the change, only to show it; `undefined` when there is none. */
async function currentState(client: ApiClient, path: string): Promise<unknown> {
  try {
    return (await client.request({ path })).fields.any('state');
  } catch (error) {
    if (error instanceof CliError && error.code === 'flag_not_found') return undefined;
    throw error;
  }
}

function flagPath(key: string, { project, env }: FlagOptions): string {
  return apiPath`/projects/${project}/environments/${env}/flags/${key}`;
}
