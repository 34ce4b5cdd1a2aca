import { ConfigError } from '../config/config.ts';
import { readSetting, type SettingReader } from '../config/setting-readers.ts';

/**
 * An option of a command, as data. It is called like the member that holds it: `dryRun` is `--dry-run`. Make one with
 * {@link required}, {@link option} or {@link toggle}.
 */
export interface OptionSpec {
  readonly about: string;
  /** Placeholder of its value, such as `<project>`. Without one, the option is on or off. */
  readonly value?: string;
  /** What `--no-…` does. Help leaves that out if the text is empty; without a text there is no such option. */
  readonly no?: string;
  readonly isRequired?: true;
  readonly choices?: readonly string[];
  readonly default?: string;
  /** The member of an option that cannot be used together with this one. */
  readonly conflicts?: string;
}

/** The options of a command, in the order of its help. */
export type OptionSpecs = Readonly<Record<string, OptionSpec>>;

type ValueOf<Spec> = Spec extends { readonly choices: readonly (infer Choice)[] }
  ? Choice
  : Spec extends { readonly value: string }
    ? string | (Spec extends { readonly no: string } ? false : never)
    : boolean;

type Given = { readonly isRequired: true } | { readonly default: string };

/** What the options hold once a command line is read. */
export type ValuesOf<Specs> = {
  readonly [Name in keyof Specs as Specs[Name] extends Given ? Name : never]: ValueOf<Specs[Name]>;
} & {
  readonly [Name in keyof Specs as Specs[Name] extends Given ? never : Name]?: ValueOf<Specs[Name]>;
};

/** An option that a command cannot do without. */
export function required(value: string, about: string) {
  return { about, value, isRequired: true } as const;
}

/** An option with a value. */
export function option<const More extends Partial<OptionSpec>>(value: string, about: string, more?: More) {
  // Without `more` it has no other members, as the parameter's type then says.
  return { about, value, ...(more as More) };
}

/** An option without a value. */
export function toggle<const More extends Partial<OptionSpec>>(about: string, more?: More) {
  // As in `option`.
  return { about, ...(more as More) };
}

/** The options of every command that talks to a server. */
export const CONNECTION = {
  json: toggle('Write JSON, even on a terminal'),
  url: option('<url>', 'Server address (default HALYARD_URL, else this machine at HALYARD_PORT or 7070)'),
  token: option('<token>', 'Access token; prefer HALYARD_TOKEN, which other users cannot see'),
  data: option('<folder>', 'Data folder of a server on this machine, to read its admin token from'),
  profile: option('<profile>', 'Profile to use, as stored by login (default HALYARD_PROFILE)'),
};

/** `--note` */
export const NOTE = option('<text>', 'Reason for the change, kept in the audit log');

/** How a change is made where other people must approve it: the options of every command that changes flags. */
export const WISH = {
  propose: toggle('Propose the change, where other people must approve it', { conflicts: 'emergency' }),
  wait: toggle('With --propose: wait until people have decided; exit code 4 unless the change was made'),
  emergency: toggle('Make the change without the approval that it needs; --note says why it cannot wait'),
};

/** What the options of {@link WISH} hold. */
export type WishOptions = ValuesOf<typeof WISH>;

/** The value of an option, checked before anything is sent. */
export function checkedOption<Value>(name: string, text: string, reader: SettingReader<Value>): Value {
  const read = readSetting(reader, text, { name, secret: false });
  if (!read.ok) throw new ConfigError([read.problem]);
  return read.value;
}

/** The names in the value of an option, which commas separate. */
export function namesIn(text: string): readonly string[] {
  return text.split(',').map((name) => name.trim());
}
