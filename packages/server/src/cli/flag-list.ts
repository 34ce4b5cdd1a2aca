import { apiPath } from './api-client.ts';
import { usageError } from './cli-error.ts';
import { connect } from './command.ts';
import type { Fields } from './fields.ts';
import { describeState } from './flag-state.ts';
import { type CONNECTION, option, required, toggle, type ValuesOf } from './options.ts';
import { printList, shortTime } from './output.ts';
import type { Shell } from './shell.ts';
import { parsePastTime } from './times.ts';

/** The options of `halyard flag list`. */
export const LIST = {
  project: required('<project>', 'Project of the flag'),
  env: option('<environment>', 'List this environment only; by default all of them side by side'),
  archived: toggle('List the archived flags of the project instead'),
  stale: option(
    '<age>',
    'List flags that have been the same in every environment for this long, such as 30d; leaves out permanent ones',
  ),
};

type FlagListOptions = ValuesOf<typeof LIST & typeof CONNECTION>;

/** Lists the flags of one environment, of the whole project, or those that are archived or stale. */
export async function listFlags(options: FlagListOptions, shell: Shell): Promise<void> {
  const { project, env, archived, stale } = options;
  if (archived && env !== undefined)
    throw usageError('--archived cannot be used with --env: a flag is archived in all environments.');
  if (stale !== undefined && (archived || env !== undefined))
    throw usageError(
      '--stale cannot be used with --env or --archived: it compares the environments of flags in use.',
    );

  if (stale !== undefined) return await listStale(options, stale, shell);
  if (archived) return await listArchived(options, shell);
  if (env === undefined) return await listEverywhere(options, shell);
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

function emptyHint(project: string): string {
  return `Create one with "halyard flag set <key> --on ...", or see archived flags with "halyard flag list --project ${project} --archived".`;
}

async function listEverywhere(options: FlagListOptions, shell: Shell): Promise<void> {
  const { project } = options;
  const client = connect(shell, options);
  const { fields } = await client.request({ path: apiPath`/projects/${project}/environments` });
  const environments = fields.list('environments').map((environment) => environment.text('name'));

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
  const record = states.optionalFields(environment);
  return record === undefined ? '-' : describeIn(record);
}

function describeIn(record: Fields): string {
  return describeState(record.any('state'), record.optionalText('valueName'));
}

async function listStale(options: FlagListOptions, age: string, shell: Shell): Promise<void> {
  const { project } = options;
  const query = { unchangedSince: parsePastTime(age, Date.now(), '--stale') };
  const path = apiPath`/projects/${project}/flags`;

  await printList(shell, options, connect(shell, options).pages({ path, query }), {
    member: 'flags',
    headings: ['FLAG', 'EVERYWHERE', 'UNCHANGED', 'OWNER', 'DESCRIPTION'],
    row: (item) => {
      const states = item.fields('environments');
      const all = states.names.map((name) => states.fields(name));
      const changes = all.map((state) => state.text('updatedAt'));
      const since = changes.toSorted().at(-1) ?? item.text('createdAt');

      const days = Math.floor((Date.now() - Date.parse(since)) / 86_400_000);
      return [
        item.text('key'),
        all[0] === undefined ? 'not set' : describeIn(all[0]),
        days === 1 ? '1 day' : `${days} days`,
        item.text('owner'),
        item.text('description'),
      ];
    },
    empty: `No stale flags in ${project}.`,
  });
}

async function listArchived(options: FlagListOptions, shell: Shell): Promise<void> {
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
