import { ConfigError } from '../config/config.ts';
import { readSetting, type SettingReader } from '../config/setting-readers.ts';

/** The value of an option by its reader. Ends the command, before anything is sent, when the text is wrong. */
export function checkedOption<Value>(name: string, text: string, reader: SettingReader<Value>): Value {
  const read = readSetting(reader, text, { name, secret: false });
  if (!read.ok) throw new ConfigError([read.problem]);
  return read.value;
}
