import { type Command, Option } from 'commander';
import { flagOf, SETTING_NAMES, SETTINGS, type SettingName } from '../config/settings.ts';

/** Gives the command one flag for each setting; secrets that have no flag of their own get one for their file. */
export function addSettingOptions(command: Command): void {
  for (const name of SETTING_NAMES) {
    for (const option of optionsOf(name)) command.addOption(option);
  }
}

function optionsOf(name: SettingName): Option[] {
  const { reader, default: byDefault, sentence, secret } = SETTINGS[name];
  const flag = flagOf(name);
  const fileOption = new Option(
    `${flag}-file <file>`,
    secret === 'hidden' ? sentence : 'A file that holds it.',
  );
  if (secret === 'hidden') return [fileOption];
  if (reader.placeholder === '') {
    // The hidden opposite lets a command line overrule an environment variable.
    return [new Option(flag, sentence), new Option(`${flag.replace('--', '--no-')}`).hideHelp()];
  }
  const suffix = byDefault === undefined ? '' : ` (default ${byDefault})`;
  const option = new Option(`${flag} ${reader.placeholder}`, `${sentence}${suffix}`);
  return secret === undefined ? [option] : [option, fileOption];
}
