import { flagOf, type Setting } from '../config/settings.ts';
import { type OptionSpecs, option, toggle } from './options.ts';

/** The options of settings. A hidden secret has an option for its file only. */
export function settingOptions(settings: Readonly<Record<string, Setting<unknown>>>): OptionSpecs {
  return Object.assign({}, ...Object.entries(settings).map(([name, setting]) => optionsOf(name, setting)));
}

function optionsOf(name: string, setting: Setting<unknown>): OptionSpecs {
  const { reader, default: byDefault, sentence, secret } = setting;
  const flag = flagOf(name);
  const help = sentence.replace(/\.$/, '');
  if (secret === 'hidden') return { [`${name}File`]: option('<file>', `${help} (read from this file)`) };

  // The hidden opposite overrides an environment variable.
  if (reader.placeholder === '') return { [name]: toggle(help, { no: '' }) };

  const suffix = byDefault === undefined ? '' : ` (default ${byDefault})`;
  const ofValue = { [name]: option(reader.placeholder, help + suffix) };
  if (secret === undefined) return ofValue;
  return { ...ofValue, [`${name}File`]: option('<file>', `Read ${flag} from this file`) };
}
