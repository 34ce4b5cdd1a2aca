import { compactJson, defined, memberText } from '@halyard/protocol';
import { type ApiClient, apiPath } from './api-client.ts';
import { CliError, EXIT, usageError } from './cli-error.ts';
import { connect, type Input } from './command.ts';
import { type Fields, isJsonText, parseForDisplay } from './fields.ts';
import { type CONNECTION, NOTE, namesIn, option, required } from './options.ts';
import { formatTable, itemTexts, printAnswer, printable, shortJson } from './output.ts';
import { quoteWord, type Shell } from './shell.ts';

/** A value that a flag declares. Its value is kept as the server has it, so that it goes back unchanged. */
interface NamedValue {
  readonly name: string;
  readonly valueText: string;
  readonly description?: string;
}

/** The options of `halyard flag values`. */
export const VALUES = {
  project: required('<project>', 'Project of the flag'),
  describe: option('<text>', 'Describe the value that you set; only with exactly one'),
  remove: option('<value-names>', 'Remove these values, separated by commas'),
  note: NOTE,
};

type ValuesInput = Input<'values <key> [assignments...]', typeof VALUES & typeof CONNECTION>;

/** Shows the named values of a flag, or changes them. */
export async function manageValues(input: ValuesInput, shell: Shell): Promise<void> {
  const { key, project, assignments, remove, describe, note } = input;
  const path = apiPath`/projects/${project}/flags/${key}`;
  const client = connect(shell, input);
  const before = await readNamedValues(client, path);

  if (assignments.length === 0 && remove === undefined) {
    if (describe !== undefined) throw usageError('--describe needs the value that it describes: name=json.');
    return printAnswer(shell, input, before.answer, (fields) => tableOf(fields, before.values, input));
  }

  const after = changed(before.values, {
    set: assignments.map(readAssignment),
    removed: remove === undefined ? [] : namesIn(remove),
    describe,
  });
  const body = `{"namedValues":[${after.map(textOf).join(',')}]}`;
  // The whole list is replaced: what someone else has changed since it was read would be lost.
  const revision = before.answer.fields.any('detailsRevision');
  const headers = revision === undefined ? {} : { 'If-Match': `"${revision}"` };
  const answer = await client.request({ method: 'PATCH', path, body, headers, note });

  printAnswer(shell, input, answer, (fields) => tableOf(fields, after, input));
  for (const line of unnamedSince(before.answer.fields, answer.fields, input)) shell.writeError(`${line}\n`);
}

/** The JSON text of the value that a flag declares under a name. Rejects with exit code 3 without one. */
export async function namedValueText(
  client: ApiClient,
  { project, key, name }: { readonly project: string; readonly key: string; readonly name: string },
): Promise<string> {
  const { values } = await readNamedValues(client, apiPath`/projects/${project}/flags/${key}`);
  const found = values.find((each) => each.name === name);
  if (found !== undefined) return found.valueText;

  const known =
    values.length === 0
      ? `It declares none: see "halyard flag values ${key} --help".`
      : `It declares ${values.map((each) => each.name).join(', ')}.`;
  throw new CliError(`The flag ${key} has no value named "${name}". ${known}`, { exitCode: EXIT.notFound });
}

/** Numbers beyond a double keep their digits. */
async function readNamedValues(client: ApiClient, path: string) {
  const answer = await client.request({ path });
  const listed = answer.fields.any('namedValues') === undefined ? [] : answer.fields.list('namedValues');
  const texts = itemTexts(answer.text, 'namedValues');
  const values = listed.map((item, index) => ({
    name: item.text('name'),
    valueText: memberText(texts[index] ?? '{}', ['value']) ?? 'null',
    ...defined({ description: item.optionalText('description') }),
  }));
  return { answer, values };
}

function readAssignment(text: string): NamedValue {
  const at = text.indexOf('=');
  const [name, json] = [text.slice(0, at), text.slice(at + 1)];
  if (at <= 0) throw usageError(`${JSON.stringify(text)} is not an assignment. Write name=json.`);
  if (isJsonText(json)) return { name, valueText: compactJson(json) };
  const quoted = quoteWord(`${name}=${JSON.stringify(json)}`);
  throw usageError(`The value of ${name} must be JSON. Quote a string for the shell as well: ${quoted}`);
}

interface Changes {
  readonly set: readonly NamedValue[];
  readonly removed: readonly string[];
  readonly describe: string | undefined;
}

function changed(before: readonly NamedValue[], { set, removed, describe }: Changes): readonly NamedValue[] {
  if (describe !== undefined && set.length !== 1)
    throw usageError('--describe needs exactly one value that it describes: name=json.');
  const missing = removed.find((name) => !before.some((each) => each.name === name));
  if (missing !== undefined)
    throw new CliError(`The flag has no value named "${missing}".`, { exitCode: EXIT.notFound });

  const after = new Map(before.map((each) => [each.name, each]));
  for (const name of removed) after.delete(name);
  for (const each of set) {
    const description = describe ?? after.get(each.name)?.description;
    after.set(each.name, { ...each, ...defined({ description }) });
  }
  return [...after.values()];
}

function textOf({ name, valueText, description }: NamedValue): string {
  const more = description === undefined ? '' : `,"description":${JSON.stringify(description)}`;
  return `{"name":${JSON.stringify(name)},"value":${valueText}${more}}`;
}

function tableOf(fields: Fields, values: readonly NamedValue[], { key, project }: ValuesInput): string {
  if (values.length === 0)
    return `${key} of ${project} declares no values. Add one with "halyard flag values ${key} name=json".\n`;
  const rows = values.map(({ name, valueText, description = '' }) => [
    name,
    shortJson(parseForDisplay(valueText)),
    environmentsWith(fields, name).join(', ') || '-',
    description,
  ]);
  return formatTable(['NAME', 'VALUE', 'ENVIRONMENTS', 'DESCRIPTION'], rows);
}

function environmentsWith(flag: Fields, name: string): readonly string[] {
  const states = flag.fields('environments');
  return states.names.filter((each) => states.fields(each).optionalText('valueName') === name);
}

/** Says which environments keep a value that has lost its name. */
function unnamedSince(before: Fields, after: Fields, { key }: ValuesInput): readonly string[] {
  const states = before.fields('environments');
  const now = after.fields('environments');
  return states.names.flatMap((environment) => {
    const name = states.fields(environment).optionalText('valueName');
    const isNamed = now.names.includes(environment) && now.fields(environment).any('valueName') !== undefined;
    if (name === undefined || isNamed) return [];
    const value = shortJson(states.fields(environment).fields('state').any('value'));
    const place = printable(`${key} in ${environment}`);
    return [`note: ${place} still serves ${value}, which was "${name}". Set the flag there to change that.`];
  });
}
