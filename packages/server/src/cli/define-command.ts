import { type Command, Option } from 'commander';
import { flagOf } from '../config/settings.ts';
import type { CliCommand } from './command.ts';
import { CONNECTION, type OptionSpec } from './options.ts';
import type { Shell } from './shell.ts';

/**
 * Adds arguments, options, subcommands and actions to a command of commander. A list is a group of commands. Where `word`, the
 * one after the command's name, names one of the group, the others are left out: nothing would look at them.
 */
export function defineCommand(
  target: Command,
  tree: CliCommand | readonly CliCommand[],
  { word, shell }: { readonly word: string | undefined; readonly shell: Shell },
): void {
  const below = 'usage' in tree ? (tree.commands ?? []) : tree;
  if ('usage' in tree) defineOne(target.description(tree.about), tree, shell);
  if (below.length === 0) return;

  // Options after the name of a command belong to it, even if the command above has the same ones.
  target.enablePositionalOptions();
  const chosen = below.filter((each) => nameOf(each) === word);
  for (const each of chosen.length > 0 ? chosen : below) {
    const one = target.command(nameOf(each), { hidden: each.isRedirect === true });
    defineOne(one.description(each.about), each, shell);
  }
  target.helpCommand('help [command]', 'Show help for a command');
}

function defineOne(target: Command, command: CliCommand, shell: Shell): void {
  const { usage, argumentHelp = {}, options, isRedirect = false } = command;
  const parameters = wordsOf(usage).slice(1);
  const names = parameters.map((word) => word.replace(/[^\w-]/g, ''));
  for (const [index, word] of parameters.entries()) target.argument(word, argumentHelp[names[index] ?? '']);

  for (const [name, spec] of Object.entries(options))
    for (const option of optionsOf(name, spec, shell)) target.addOption(option);
  target.allowUnknownOption(isRedirect).addHelpText('after', helpText(command));

  target.action(async () => {
    const values = names.map((name, index) => [name, target.processedArgs[index]] as const);
    await command.run({ ...Object.fromEntries(values), ...target.opts() }, shell);
  });
}

/** The variables that stand for options which nearly every command needs. */
const VARIABLES: Readonly<Record<string, string>> = { project: 'HALYARD_PROJECT', env: 'HALYARD_ENV' };

/** The options that nearly every command has: help lists them below its own. */
const SERVER: readonly OptionSpec[] = [CONNECTION.url, CONNECTION.token, CONNECTION.data, CONNECTION.profile];

function nameOf({ usage }: CliCommand): string {
  return wordsOf(usage)[0] ?? '';
}

function wordsOf(usage: string): readonly string[] {
  return usage.split(' ');
}

/** The options of one spec: two, if it has an opposite. */
function optionsOf(name: string, spec: OptionSpec, { env }: Shell): readonly Option[] {
  const { about, value, no, isRequired = false, choices, conflicts } = spec;
  // Only where the option is needed: where it narrows a command, a variable would change what the command does.
  const byDefault = (isRequired && env[VARIABLES[name] ?? '']) || spec.default;
  const word = flagOf(name);
  const option = new Option(value === undefined ? word : `${word} ${value}`, about);
  option.makeOptionMandatory(isRequired);
  if (SERVER.includes(spec)) option.helpGroup('Server:');
  if (choices !== undefined) option.choices([...choices]);
  if (byDefault !== undefined) option.default(byDefault);
  if (conflicts !== undefined) option.conflicts(conflicts);
  if (no === undefined) return [option];

  const opposite = new Option(word.replace('--', '--no-'), no);
  return [option, no === '' ? opposite.hideHelp() : opposite];
}

function helpText({ help, examples = [], closing }: CliCommand): string {
  const title = examples.length === 1 ? 'Example:' : 'Examples:';
  const copied =
    examples.length === 0 ? undefined : [title, ...examples.map((line) => `  ${line}`)].join('\n');
  const parts = [help, copied, closing].filter((part) => part !== undefined);
  return parts.length === 0 ? '' : `\n${parts.join('\n\n')}`;
}
