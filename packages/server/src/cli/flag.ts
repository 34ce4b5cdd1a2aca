import type { Command } from 'commander';
import { VALUE_KINDS } from '../domain/project.ts';
import { type ApiClient, apiPath } from './api-client.ts';
import { CliError, usageError } from './cli-error.ts';
import type { Fields } from './fields.ts';
import { addStateOptions, describeState, describeStep, patchBody, type StateOptions } from './flag-state.ts';
import {
  addConnectionOptions,
  addRedirect,
  type CommandOptions,
  connect,
  NOTE_HELP,
  namesIn,
  noteHeader,
  parsePastTime,
  requireYes,
} from './options.ts';
import { printAnswer, printDone, printList, shortTime, wantsJson } from './output.ts';
import type { Shell } from './shell.ts';

interface ProjectOptions extends CommandOptions {
  readonly project: string;
  readonly note?: string;
}

interface FlagOptions extends ProjectOptions {
  readonly env: string;
}

interface SetOptions extends FlagOptions, StateOptions {
  readonly expect?: string;
}

interface UpdateOptions extends ProjectOptions {
  readonly description?: string;
  readonly tags?: string;
  readonly owner?: string;
  readonly permanent?: boolean;
  readonly valueKind?: string;
}

interface ListOptions extends ProjectOptions {
  readonly env?: string;
  readonly archived?: boolean;
  readonly stale?: string;
}

interface DeleteOptions extends ProjectOptions {
  readonly env?: string;
  readonly yes?: boolean;
}

/** `halyard flag set|get|update|list|archive|restore|delete` */
export function defineFlag(flag: Command, shell: Shell): void {
  addRedirect(flag, 'create', 'A flag is created by "halyard flag set".');
  const add = (usage: string, description: string) =>
    flag.command(usage).description(description).requiredOption('--project <project>', 'Project of the flag');
  addConnectionOptions(
    addStateOptions(
      add(
        'set <key>',
        'Change a flag in one environment, or create it there. Options you leave out keep their value.',
      ).requiredOption('--env <environment>', 'Environment to change'),
    )
      .option('--note <text>', NOTE_HELP)
      .option(
        '--expect <revision>',
        'Fail unless the flag has this revision; "none": unless it does not exist',
      )
      .addHelpText('after', SET_EXAMPLES),
  ).action((key: string, options: SetOptions) => setFlag(shell, key, options));
  addConnectionOptions(
    add('get <key>', 'Show a flag in one environment.').requiredOption(
      '--env <environment>',
      'Environment to read',
    ),
  ).action((key: string, options: FlagOptions) => getFlag(shell, key, options));
  addConnectionOptions(
    add(
      'update <key>',
      'Change the details of a flag, in all environments: description, tags, owner, lifetime, kind of value.',
    )
      .option('--description <text>', 'Set the description')
      .option('--tags <tags>', 'Replace all tags, separated by commas; "" removes them')
      .option('--owner <owner>', 'Set the owner; "" removes it')
      .option('--permanent', 'Mark the flag as meant to stay, so that it never counts as stale')
      .option('--no-permanent', 'Remove the mark of --permanent')
      .option('--value-kind <kind>', `Set the kind of value that code expects: ${VALUE_KINDS.join(', ')}`)
      .option('--note <text>', NOTE_HELP)
      .addHelpText('after', UPDATE_EXAMPLE),
  ).action((key: string, options: UpdateOptions) => updateFlag(shell, key, options));
  addConnectionOptions(
    add('list', 'List the flags of one environment or of the whole project.')
      .option('--env <environment>', 'List this environment only; by default all of them side by side')
      .option('--archived', 'List the archived flags of the project instead')
      .option(
        '--stale <age>',
        'List flags that have been the same in every environment for this long, such as 30d; leaves out permanent ones',
      )
      .addHelpText('after', LIST_EXAMPLES),
  ).action((options: ListOptions) => listFlags(shell, options));
  addConnectionOptions(
    add(
      'archive <key>',
      'Archive a flag in every environment. Applications get their defaults; "restore" brings its states back.',
    ).option('--note <text>', NOTE_HELP),
  ).action((key: string, options: ProjectOptions) => archiveFlag(shell, key, options));
  addConnectionOptions(
    add('restore <key>', 'Restore an archived flag with the states it had.').option(
      '--note <text>',
      NOTE_HELP,
    ),
  ).action((key: string, options: ProjectOptions) => restoreFlag(shell, key, options));
  addConnectionOptions(
    add('delete <key>', 'Delete a flag everywhere or from one environment. Applications get their defaults.')
      .option('--note <text>', NOTE_HELP)
      .option('--env <environment>', 'Delete from this environment only')
      .option('--yes', 'Confirm deleting it from all environments'),
  ).action((key: string, options: DeleteOptions) => deleteFlag(shell, key, options));
}

const SET_EXAMPLES = `
Examples:
  halyard flag set new-checkout --project shop --env production --on --note "launch day"
  halyard flag set new-checkout --project shop --env production --on --rollout 25
  halyard flag set banner --project shop --env staging --on --value '"Winter sale"'
  halyard flag set limits --project shop --env staging --value '{"perUser": 5}' --expect 41`;

const UPDATE_EXAMPLE = `
Example:
  halyard flag update new-checkout --project shop --description "The checkout of 2027" --tags release,web --owner payments`;

function flagPath(key: string, { project }: ProjectOptions): string {
  return apiPath`/projects/${project}/flags/${key}`;
}

function statePath(key: string, { project, env }: FlagOptions): string {
  return apiPath`/projects/${project}/environments/${env}/flags/${key}`;
}

async function setFlag(shell: Shell, key: string, options: SetOptions): Promise<void> {
  const path = statePath(key, options);
  const body = patchBody(options);
  const headers = { ...noteHeader(options.note), ...conditionHeaders(options.expect) };
  const client = connect(shell, options);
  const before = await currentState(client, path);
  const answer = await client.request({ method: 'PATCH', path, body, headers });
  const { fields } = answer;
  const after = fields.any('state');
  const result = fields.boolean('changed')
    ? `${describeStep(before, after)} (revision ${fields.number('revision')})`
    : `${describeState(after)} (unchanged)`;
  const line = `${key} in ${options.env} of ${options.project}: ${result}\n`;
  if (wantsJson(shell, options)) shell.writeError(line);
  printAnswer(shell, options, answer, () => line);
}

/** The state before the change, for display only; `undefined` if the flag does not exist there. */
async function currentState(client: ApiClient, path: string): Promise<unknown> {
  try {
    return (await client.request({ path })).fields.any('state');
  } catch (error) {
    if (error instanceof CliError && error.code === 'flag_not_found') return undefined;
    throw error;
  }
}

/** The condition of a write: the revision that the flag must have, or `none` if it must not exist. */
function conditionHeaders(expect: string | undefined): Readonly<Record<string, string>> {
  if (expect === undefined) return {};
  if (expect === 'none') return { 'if-none-match': '*' };
  if (/^\d{1,15}$/.test(expect)) return { 'if-match': `"${expect}"` };
  throw usageError(`--expect must be a revision, as shown by "flag get", or "none", not "${expect}".`);
}

async function getFlag(shell: Shell, key: string, options: FlagOptions): Promise<void> {
  const answer = await connect(shell, options).request({ path: statePath(key, options) });
  printAnswer(shell, options, answer, (fields) =>
    [
      `${key} in ${options.env} of ${options.project}`,
      `  state     ${describeState(fields.any('state'))}`,
      `  revision  ${fields.number('revision')}`,
      `  changed   ${shortTime(fields.optionalText('updatedAt'))}`,
      '',
    ].join('\n'),
  );
}

async function updateFlag(shell: Shell, key: string, options: UpdateOptions): Promise<void> {
  const { description, owner, permanent, valueKind, note } = options;
  const tags = options.tags === undefined ? undefined : namesIn(options.tags).filter((tag) => tag !== '');
  const body = JSON.stringify({ description, tags, owner, permanent, valueKind });
  if (body === '{}')
    throw usageError('Nothing to change. Add --description, --tags, --owner, --permanent or --value-kind.');
  const path = flagPath(key, options);
  const answer = await connect(shell, options).request({
    method: 'PATCH',
    path,
    body,
    headers: noteHeader(note),
  });
  printAnswer(shell, options, answer, () => `Updated ${key} of ${options.project}.\n`);
}

async function listFlags(shell: Shell, options: ListOptions): Promise<void> {
  const { project, env, archived, stale } = options;
  if (archived && env !== undefined) {
    throw usageError('--archived cannot be used with --env: a flag is archived in all environments.');
  }
  if (stale !== undefined && (archived || env !== undefined)) {
    throw usageError(
      '--stale cannot be used with --env or --archived: it compares the environments of flags in use.',
    );
  }
  if (stale !== undefined) await listStale(shell, { ...options, stale });
  else if (archived) await listArchived(shell, options);
  else if (env === undefined) await listEverywhere(shell, options);
  else {
    const path = apiPath`/projects/${project}/environments/${env}/flags`;
    await printList(shell, options, connect(shell, options).pages({ path }), {
      member: 'flags',
      headings: ['FLAG', 'STATE', 'REVISION', 'CHANGED'],
      row: (item) => [
        item.text('key'),
        describeState(item.any('state')),
        `${item.number('revision')}`,
        shortTime(item.optionalText('updatedAt')),
      ],
      empty: `No flags in ${env} of ${project}. ${emptyHint(project)}`,
    });
  }
}

function emptyHint(project: string): string {
  return `Create one with "halyard flag set <key> --on ...", or see archived flags with "halyard flag list --project ${project} --archived".`;
}

async function listEverywhere(shell: Shell, options: ListOptions): Promise<void> {
  const { project } = options;
  const client = connect(shell, options);
  const environments = (await client.request({ path: apiPath`/projects/${project}/environments` })).fields
    .list('environments')
    .map((environment) => environment.text('name'));
  await printList(shell, options, client.pages({ path: apiPath`/projects/${project}/flags` }), {
    member: 'flags',
    headings: ['FLAG', ...environments.map((name) => name.toUpperCase()), 'OWNER', 'TAGS'],
    row: (item) => [
      item.text('key'),
      ...environments.map((name) => stateIn(item.fields('environments'), name)),
      item.text('owner'),
      item.texts('tags').join(', '),
    ],
    empty: `No flags in use in ${project}. ${emptyHint(project)}`,
  });
}

function stateIn(states: Fields, environment: string): string {
  return states.any(environment) === undefined ? '-' : describeState(states.fields(environment).any('state'));
}

async function listStale(shell: Shell, options: ListOptions & { readonly stale: string }): Promise<void> {
  const { project } = options;
  const query = { unchangedSince: parsePastTime(options.stale, Date.now(), '--stale') };
  const path = apiPath`/projects/${project}/flags`;
  await printList(shell, options, connect(shell, options).pages({ path, query }), {
    member: 'flags',
    headings: ['FLAG', 'EVERYWHERE', 'UNCHANGED', 'OWNER', 'DESCRIPTION'],
    row: (item) => {
      const states = item.fields('environments');
      const all = states.names.map((name) => states.fields(name));
      const since =
        all
          .map((state) => state.text('updatedAt'))
          .toSorted()
          .at(-1) ?? item.text('createdAt');
      const days = Math.floor((Date.now() - Date.parse(since)) / 86_400_000);
      return [
        item.text('key'),
        all[0] === undefined ? 'not set' : describeState(all[0].any('state')),
        days === 1 ? '1 day' : `${days} days`,
        item.text('owner'),
        item.text('description'),
      ];
    },
    empty: `No stale flags in ${project}.`,
  });
}

const LIST_EXAMPLES = `
Examples:
  halyard flag list --project shop
  halyard flag list --project shop --stale 30d`;

async function listArchived(shell: Shell, options: ListOptions): Promise<void> {
  const path = apiPath`/projects/${options.project}/flags`;
  await printList(shell, options, connect(shell, options).pages({ path, query: { archived: 'true' } }), {
    member: 'flags',
    headings: ['FLAG', 'ARCHIVED', 'OWNER', 'DESCRIPTION'],
    row: (item) => [
      item.text('key'),
      shortTime(item.optionalText('archivedAt')),
      item.text('owner'),
      item.text('description'),
    ],
    empty: `No archived flags in ${options.project}.`,
  });
}

async function archiveFlag(shell: Shell, key: string, options: ProjectOptions): Promise<void> {
  const path = `${flagPath(key, options)}/archive`;
  const headers = noteHeader(options.note);
  const answer = await connect(shell, options).request({ method: 'POST', path, headers });
  printAnswer(shell, options, answer, () => `Archived ${key} of ${options.project}.\n`);
}

async function restoreFlag(shell: Shell, key: string, options: ProjectOptions): Promise<void> {
  const path = `${flagPath(key, options)}/restore`;
  const headers = noteHeader(options.note);
  const answer = await connect(shell, options).request({ method: 'POST', path, headers });
  printAnswer(shell, options, answer, (fields) => {
    const environments = fields.fields('environments').names;
    const place = environments.length === 0 ? 'no environment' : environments.join(', ');
    return `Restored ${key} of ${options.project} in ${place}.\n`;
  });
}

async function deleteFlag(shell: Shell, key: string, options: DeleteOptions): Promise<void> {
  const { project, env } = options;
  const request = { method: 'DELETE', headers: noteHeader(options.note) } as const;
  if (env !== undefined) {
    const { text } = await connect(shell, options).request({
      ...request,
      path: statePath(key, { ...options, env }),
    });
    printDone(shell, options, `Deleted ${key} from ${env} of ${project}.`, text);
    return;
  }
  requireYes(options, `This deletes ${key} and its states from every environment of ${project}.`);
  const everywhere = { ...request, path: flagPath(key, options), query: { archive: 'true' } };
  const { text } = await connect(shell, options).request(everywhere);
  printDone(shell, options, `Deleted ${key} from ${project}.`, text);
}
