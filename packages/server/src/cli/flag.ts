import { VALUE_KINDS } from '@halyard/protocol';
import { type ApiClient, apiPath } from './api-client.ts';
import { usageError } from './cli-error.ts';
import { type CliCommand, command, connect, type Input, redirect } from './command.ts';
import type { Fields } from './fields.ts';
import { LIST, listFlags } from './flag-list.ts';
import { describeState, describeStep, patchBody, STATE, type StateOptions } from './flag-state.ts';
import { manageValues, namedValueText, VALUES } from './flag-values.ts';
import { type CONNECTION, NOTE, namesIn, option, required, toggle, WISH } from './options.ts';
import { printAnswer, shortTime, wantsJson } from './output.ts';
import type { Shell } from './shell.ts';

const PROJECT = { project: required('<project>', 'Project of the flag') };

const SET = {
  ...PROJECT,
  env: required('<environment>', 'Environment to change'),
  ...STATE,
  valueName: option('<value-name>', 'Set the value that the flag declares under this name', {
    conflicts: 'value',
  }),
  note: NOTE,
  expect: option('<revision>', 'Fail unless the flag has this revision; "none": unless it does not exist'),
  ...WISH,
};

/** `halyard flag set|get|update|values|list|archive|restore|delete` */
export const flagCommands: readonly CliCommand[] = [
  redirect('create', 'A flag is created by "halyard flag set".'),
  command({
    usage: 'set <key>',
    about: 'Change a flag in one environment, or create it there. Options you leave out keep their value.',
    options: SET,
    examples: [
      'halyard flag set new-checkout --project shop --env production --on --note "launch day"',
      'halyard flag set new-checkout --project shop --env production --on --rollout 25',
      `halyard flag set banner --project shop --env staging --on --value '"Winter sale"'`,
      'halyard flag set banner --project shop --env production --on --value-name treatment',
      `halyard flag set limits --project shop --env staging --value '{"perUser": 5}' --expect 41`,
    ],
    run: setFlag,
  }),
  command({
    usage: 'get <key>',
    about: 'Show a flag in one environment.',
    options: { ...PROJECT, env: required('<environment>', 'Environment to read') },
    request: (which) => ({ path: statePath(which) }),
    answer: (fields, { key, env, project }) =>
      [
        `${key} in ${env} of ${project}`,
        `  state     ${describeState(fields.any('state'), fields.optionalText('valueName'))}`,
        `  revision  ${fields.number('revision')}`,
        `  changed   ${shortTime(fields.optionalText('updatedAt'))}`,
        '',
      ].join('\n'),
  }),
  command({
    usage: 'update <key>',
    about:
      'Change the details of a flag, in all environments: description, tags, owner, lifetime, kind of value.',
    options: {
      ...PROJECT,
      description: option('<text>', 'Set the description'),
      tags: option('<tags>', 'Replace all tags, separated by commas; "" removes them'),
      owner: option('<owner>', 'Set the owner; "" removes it'),
      permanent: toggle('Mark the flag as meant to stay, so that it never counts as stale', {
        no: 'Remove the mark of --permanent',
      }),
      valueKind: option('<kind>', `Set the kind of value that code expects: ${VALUE_KINDS.join(', ')}`),
      note: NOTE,
    },
    examples: [
      'halyard flag update new-checkout --project shop --description "The checkout of 2027" --tags release,web --owner payments',
    ],
    request: ({ description, tags, owner, permanent, valueKind, note, ...which }) => {
      const body = {
        description,
        tags: tags === undefined ? undefined : namesIn(tags).filter((tag) => tag !== ''),
        owner,
        permanent,
        valueKind,
      };
      if (Object.values(body).every((value) => value === undefined))
        throw usageError(
          'Nothing to change. Add --description, --tags, --owner, --permanent or --value-kind.',
        );
      return { method: 'PATCH', path: flagPath(which), body, note };
    },
    answer: (_fields, { key, project }) => `Updated ${key} of ${project}.\n`,
  }),
  command({
    usage: 'values <key> [assignments...]',
    about: 'List the named values of a flag, or change them. What environments serve stays the same.',
    argumentHelp: { assignments: 'Values to add or change, each as name=json' },
    options: VALUES,
    examples: [
      'halyard flag values banner --project shop',
      `halyard flag values banner control='"blue"' treatment='"green"' --project shop`,
      `halyard flag values banner treatment='"red"' --describe "From December" --project shop`,
      'halyard flag values banner --remove control --project shop',
    ],
    run: manageValues,
  }),
  command({
    usage: 'list',
    about: 'List the flags of one environment or of the whole project.',
    options: LIST,
    examples: ['halyard flag list --project shop', 'halyard flag list --project shop --stale 30d'],
    run: listFlags,
  }),
  command({
    usage: 'archive <key>',
    about:
      'Archive a flag in every environment. Applications get their defaults; "restore" brings its states back.',
    options: { ...PROJECT, note: NOTE, ...WISH },
    request: ({ note, ...which }) => ({ method: 'POST', path: `${flagPath(which)}/archive`, note }),
    answer: (_fields, { key, project }) => `Archived ${key} of ${project}.\n`,
  }),
  command({
    usage: 'restore <key>',
    about: 'Restore an archived flag with the states it had.',
    options: { ...PROJECT, note: NOTE, ...WISH },
    request: ({ note, ...which }) => ({ method: 'POST', path: `${flagPath(which)}/restore`, note }),
    answer: (fields, { key, project }) => {
      const environments = fields.fields('environments').names;
      const place = environments.length === 0 ? 'no environment' : environments.join(', ');
      return `Restored ${key} of ${project} in ${place}.\n`;
    },
  }),
  command({
    usage: 'delete <key>',
    about: 'Delete a flag everywhere or from one environment. Applications get their defaults.',
    options: {
      ...PROJECT,
      note: NOTE,
      env: option('<environment>', 'Delete from this environment only'),
      ...WISH,
    },
    confirm: {
      about: 'Confirm deleting it from all environments',
      loses: ({ key, project, env }) =>
        env === undefined
          ? `This deletes ${key} and its states from every environment of ${project}.`
          : undefined,
    },
    request: ({ env, note, ...which }) =>
      env === undefined
        ? { method: 'DELETE', path: flagPath(which), query: { archive: 'true' }, note }
        : { method: 'DELETE', path: statePath({ ...which, env }), note },
    done: ({ key, project, env }) =>
      env === undefined ? `Deleted ${key} from ${project}.` : `Deleted ${key} from ${env} of ${project}.`,
  }),
];

interface WhichFlag {
  readonly project: string;
  readonly key: string;
}

function flagPath({ project, key }: WhichFlag): string {
  return apiPath`/projects/${project}/flags/${key}`;
}

function statePath({ project, env, key }: WhichFlag & { readonly env: string }): string {
  return apiPath`/projects/${project}/environments/${env}/flags/${key}`;
}

async function setFlag(
  input: Input<'set <key>', typeof SET & typeof CONNECTION>,
  shell: Shell,
): Promise<void> {
  const { key, env, project, note } = input;
  const path = statePath(input);
  const headers = conditionHeaders(input.expect);
  const client = connect(shell, input);
  const named = await withNamedValue(input, client);
  const body = patchBody(named);

  const answer = await client.request({ method: 'PATCH', path, body, headers, note });

  const name = input.valueName === undefined ? '' : ` (${input.valueName})`;
  const line = `${key} in ${env} of ${project}: ${describeResult(answer.fields, name)}\n`;
  if (wantsJson(shell, input)) shell.writeError(line);
  printAnswer(shell, input, answer, () => line);
}

/** The options with the value that `--value-name` stands for. */
async function withNamedValue(
  { valueName: name, ...options }: Input<'set <key>', typeof SET & typeof CONNECTION>,
  client: ApiClient,
): Promise<StateOptions> {
  if (name === undefined) return options;
  const { project, key } = options;
  return { ...options, value: await namedValueText(client, { project, key, name }) };
}

/** What the change did. A server of an older version does not say what was there before. */
function describeResult(fields: Fields, name: string): string {
  const [before, after] = [fields.any('before'), fields.any('state')];
  if (!fields.boolean('changed')) return `${describeState(after)}${name} (unchanged)`;
  const step = before === undefined ? describeState(after) : describeStep(before, after);
  return `${step}${name} (revision ${fields.number('revision')})`;
}

/** The condition of a write: the revision that the flag must have, or `none` if it must not exist. */
function conditionHeaders(expect: string | undefined): Readonly<Record<string, string>> {
  if (expect === undefined) return {};
  if (expect === 'none') return { 'if-none-match': '*' };
  if (/^\d{1,15}$/.test(expect)) return { 'if-match': `"${expect}"` };
  throw usageError(`--expect must be a revision, as shown by "flag get", or "none", not "${expect}".`);
}
