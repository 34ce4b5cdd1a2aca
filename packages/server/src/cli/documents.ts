import { readFile } from 'node:fs/promises';
import { DOCUMENT_SECTIONS, REMOVABLE_SECTIONS } from '@halyard/protocol';
import { type ApiAnswer, type ApiRequest, apiPath } from './api-client.ts';
import { CliError, EXIT, usageError } from './cli-error.ts';
import { command, connect, type Input } from './command.ts';
import { type Fields, isJsonText } from './fields.ts';
import { describeStep } from './flag-state.ts';
import { type CONNECTION, NOTE, option, required, toggle, WISH } from './options.ts';
import { printAnswer, printable, printDocument, shortJson } from './output.ts';
import { decodeUtf8, type Shell } from './shell.ts';

/** `halyard export` */
export const exportCommand = command({
  usage: 'export',
  about: 'Export a project with its environments and flags as one document for "halyard import".',
  options: {
    project: required('<project>', 'Project to export'),
    format: option('<format>', 'Format (default yaml; json with --json or --out *.json)', {
      choices: ['yaml', 'json', 'flagd'],
    }),
    env: option('<environment>', 'Environment to export; only, and always, with --format flagd'),
    with: option(
      '<sections>',
      `What else to export, separated by commas: ${DOCUMENT_SECTIONS.join(', ')}; never secrets`,
    ),
    omitRollouts: toggle('With --format flagd: leave out flags that are rolled out to a part of the users'),
    out: option('<file>', 'Write to this file instead of standard output'),
  },
  examples: [
    'halyard export --project shop --out flags.yaml',
    'halyard export --project shop --with settings,keys,webhooks,members --out shop.yaml',
    'halyard export --project shop --format flagd --env production --out flags.flagd.json',
  ],
  run: async ({ project, env, with: sections, omitRollouts = false, out, ...options }, shell) => {
    if ((options.format === 'flagd') !== (env !== undefined) || (omitRollouts && env === undefined))
      throw usageError('--env goes with --format flagd, which needs it; --omit-rollouts goes with both.');
    if (env !== undefined) {
      const path = apiPath`/projects/${project}/environments/${env}/flagd`;
      const query = { rollouts: omitRollouts ? 'omit' : 'include' };
      const { text } = await connect(shell, options).request({ path, query });
      await printDocument(shell, text, {
        out,
        sentence: `Wrote the flags of ${project}/${env} to ${out}.`,
      });
      return;
    }

    const format = options.format ?? (options.json || out?.endsWith('.json') ? 'json' : 'yaml');
    const path = apiPath`/projects/${project}/export`;
    const { text } = await connect(shell, options).request({ path, query: { format, with: sections } });
    await printDocument(shell, text, { out, sentence: `Wrote project ${project} to ${out}.` });
  },
});

/** What happens to what the file lacks. */
const LACKING = {
  prune: toggle('Also remove states and archive flags that are not in the file; by default they stay'),
  remove: option(
    '<sections>',
    `Also remove what the file lacks in these sections: ${REMOVABLE_SECTIONS.join(', ')}; by default it stays`,
  ),
};

/** `halyard import` */
export const importCommand = command({
  usage: 'import <file>',
  about: 'Import a document that "halyard export" wrote; "-" reads standard input.',
  options: {
    policy: option('<policy>', 'create-only adds what is missing; enforce also changes what differs', {
      choices: ['create-only', 'enforce'],
      default: 'create-only',
    }),
    ...LACKING,
    dryRun: toggle('Show what would change, and which of these changes you may not make'),
    plan: option('<plan>', 'Import only what the dry run or diff that printed this plan has shown'),
    note: NOTE,
    ...WISH,
  },
  help: 'Each change requires the same role as making it by itself. If one is not allowed, nothing is imported.',
  examples: [
    'halyard import flags.yaml --policy enforce --dry-run',
    'halyard import flags.yaml --policy enforce --plan 41-0f343b0931126a20f133d67c2b018a3b',
    'halyard export --project shop --url https://flags.example.com | halyard import -',
  ],
  run: async (input, shell) => {
    const answer = await sendDocument(input, shell, {
      path: apiPath`/import`,
      query: { policy: input.policy, dryRun: String(input.dryRun === true), plan: input.plan },
      note: input.note,
    });
    printAnswer(shell, input, answer, describeImport);
  },
});

/** `halyard diff` */
export const diffCommand = command({
  usage: 'diff <file>',
  about: 'Show what "halyard import --policy enforce" would change; "-" reads standard input.',
  options: LACKING,
  help:
    'Writes text even when piped; --json writes JSON. Requires the role viewer only.\n' +
    'Exit codes: 0 no differences, 5 differences, others as for every command.',
  examples: [
    'halyard diff flags.yaml',
    'halyard export --project shop --url https://staging.example.com | halyard diff - --json',
  ],
  run: async (input, shell) => {
    const { text, fields } = await sendDocument(input, shell, { path: apiPath`/diff` });
    shell.write(input.json === true ? `${text}\n` : describeDifference(fields, input.file));
    const exitCode = EXIT.different;
    if (!fields.boolean('same')) throw new CliError(`${input.file} and the server differ.`, { exitCode });
  },
});

/** The largest documents take a busy database minutes. */
const IMPORT_TIMEOUT_MS = 300_000;

async function sendDocument(
  { file, prune, remove, ...options }: Input<'diff <file>', typeof LACKING & typeof CONNECTION>,
  shell: Shell,
  { query, ...request }: Pick<ApiRequest, 'path' | 'query' | 'note'>,
): Promise<ApiAnswer> {
  const body = await readDocument(file, shell);
  return await connect(shell, options).request({
    ...request,
    method: 'POST',
    query: { ...query, prune: String(prune === true), remove },
    timeoutMs: IMPORT_TIMEOUT_MS,
    body,
    contentType: isJsonText(body) ? 'application/json' : 'application/yaml',
  });
}

async function readDocument(file: string, shell: Shell): Promise<string> {
  const hint = 'Use a file that "halyard export" wrote, or "-" for standard input.';
  const readBytes = () =>
    readFile(file).catch((cause: unknown) => {
      throw usageError(`Cannot read ${file}. ${hint}`, cause);
    });
  const text = file === '-' ? await shell.readInput() : decodeUtf8(await readBytes(), file);
  if (text.trim() === '') throw usageError(`${file} is empty. ${hint}`);
  return text;
}

function describeImport(fields: Fields): string {
  const isDryRun = fields.boolean('dryRun');
  const project = fields.text('project');
  const count = countStates(fields.list('changes').length);
  const kept = fields.number('kept');
  return lines(
    ...describePlan(fields),
    ...describeSecrets(fields),
    ...(kept > 0 ? [`Kept ${kept} that differ; --policy enforce overwrites them.`] : []),
    ...(isDryRun ? describeNotAllowed(fields) : []),
    isDryRun ? `Dry run: would change ${count} of ${project}.` : `Changed ${count} of ${project}.`,
    ...(isDryRun ? [`To import exactly this: --plan ${fields.text('plan')}`] : []),
  );
}

function describeDifference(fields: Fields, file: string): string {
  const project = fields.text('project');
  const plan = describePlan(fields);
  if (fields.boolean('same')) {
    const isWhole = plan.length === 0;
    return lines(
      ...plan,
      isWhole ? `${file} and ${project} are the same.` : `Nothing in ${file} differs from ${project}.`,
    );
  }
  return lines(...plan, ...describeNotAllowed(fields));
}

/** What is created (+), changed (~), removed (-) and left alone. */
function describePlan(fields: Fields): readonly string[] {
  const each = (member: string, line: (name: string) => string) => fields.texts(member).map(line);
  const order = fields.any('environmentOrder') === undefined ? [] : fields.texts('environmentOrder');
  const only = fields.fields('onlyInProject');
  const flags = only.texts('flags');
  const states = only.list('states').map((state) => `${state.text('environment')}/${state.text('key')}`);
  const others = REMOVABLE_SECTIONS.flatMap((section) =>
    only.texts(section).map((name) => `  ${section.slice(0, -1)} ${name} is not in the file`),
  );
  const hint = [
    ...(flags.length + states.length === 0 ? [] : ['--prune archives or removes what the file lacks.']),
    ...(others.length === 0
      ? []
      : [`--remove ${REMOVABLE_SECTIONS.join(',')} removes what the file lacks in these sections.`]),
  ];

  return [
    ...(fields.boolean('projectCreated') ? [`+ project ${fields.text('project')}`] : []),
    ...each('environmentsCreated', (name) => `+ environment ${name}`),
    ...fields
      .list('environmentsUpdated')
      .map((one) => `~ environment ${one.text('name')}: ${describeFields(one)}`),
    ...(order.length === 0 ? [] : [`~ order of environments: ${order.join(', ')}`]),
    ...each('flagsCreated', (key) => `+ flag ${key}`),
    ...fields.list('flagsUpdated').map((one) => `~ flag ${one.text('key')}: ${describeFields(one)}`),
    ...each('flagsRestored', (key) => `~ flag ${key}: restore from the archive`),
    ...each('flagsArchived', (key) => `- flag ${key}: archive`),
    ...fields.list('changes').map(describeChange),
    ...describeSections(fields),
    ...flags.map((key) => `  flag ${key} is not in the file`),
    ...states.map((place) => `  ${place} is not in the file`),
    ...others,
    ...hint,
  ];
}

/** The names that are new, removed or changed: `+dark, -light, ~blue`; the order alone has no name. */
function describeNamed(before: Fields, after: Fields): string {
  const [old, young] = [before, after].map(
    (one) =>
      new Map(one.list('namedValues').map((each) => [each.text('name'), JSON.stringify(each.any('value'))])),
  );
  const marks = [...new Set([...(old?.keys() ?? []), ...(young?.keys() ?? [])])].flatMap((name) => {
    const [was, is] = [old?.get(name), young?.get(name)];
    if (was === is) return [];
    return [`${was === undefined ? '+' : is === undefined ? '-' : '~'}${name}`];
  });
  return marks.length === 0 ? 'have other descriptions or another order' : marks.join(', ');
}

/** The keys, webhooks and members that are created (+), changed (~) and removed (-). */
function describeSections(fields: Fields): readonly string[] {
  const roleOf = (role: Fields) =>
    `${role.text('role')}${role.boolean('canChangeProtected') ? ' + protected' : ''}`;
  return [
    ...fields
      .list('keysCreated')
      .map((key) => `+ key ${key.text('name')}: ${key.texts('environments').join(', ')}`),
    ...fields.list('keysRevoked').map((key) => `- key ${key.text('name')} (${key.text('id')}): revoke`),
    ...fields.list('webhooksCreated').map((webhook) => `+ webhook ${webhook.text('name')}`),
    ...fields.list('webhooksUpdated').map((webhook) => `~ webhook ${webhook.text('name')}`),
    ...fields.texts('webhooksDeleted').map((name) => `- webhook ${name}: delete`),
    ...fields.list('membersChanged').map((member) => {
      const [before, after] = ['before', 'after'].map((name) => {
        const role = member.optionalFields(name);
        return role && roleOf(role);
      });
      const mark = before === undefined ? '+' : after === undefined ? '-' : '~';
      const role = before === undefined ? after : `${before} -> ${after ?? 'none'}`;
      return `${mark} member ${member.text('email')}: ${role}`;
    }),
  ];
}

/** The secrets of what was created, which no later answer has. */
function describeSecrets(fields: Fields): readonly string[] {
  const secrets = [
    ...fields.list('keysCreated').map((key) => ['key', key.text('name'), key.optionalText('key')] as const),
    ...fields
      .list('webhooksCreated')
      .map((webhook) => ['webhook', webhook.text('name'), webhook.optionalText('secret')] as const),
  ].flatMap(([what, name, secret]) => (secret === undefined ? [] : [`${what} ${name}: ${secret}`]));
  return secrets.length === 0 ? [] : ['Save these now. You cannot see them again:', ...secrets];
}

/** The members that differ: `color red -> pink`. */
function describeFields(one: Fields): string {
  const [before, after] = [one.fields('before'), one.fields('after')];
  return after.names
    .map((name) =>
      name === 'namedValues'
        ? `named values ${describeNamed(before, after)}`
        : `${name} ${shortJson(before.any(name))} -> ${shortJson(after.any(name))}`,
    )
    .join(', ');
}

function describeNotAllowed(fields: Fields): readonly string[] {
  const refused = fields.list('notAllowed').map((one) => `  ${one.text('what')}: ${one.text('why')}`);
  return refused.length === 0 ? [] : ['You may not:', ...refused];
}

function lines(...texts: readonly string[]): string {
  return `${texts.map(printable).join('\n')}\n`;
}

function countStates(count: number): string {
  return count === 1 ? '1 flag state' : `${count} flag states`;
}

const MARKS: Readonly<Record<string, string>> = { create: '+', update: '~', delete: '-' };

function describeChange(change: Fields): string {
  const step = describeStep(change.any('before'), change.any('after'));
  return `${MARKS[change.text('action')] ?? '?'} ${change.text('environment')}/${change.text('key')}: ${step}`;
}
