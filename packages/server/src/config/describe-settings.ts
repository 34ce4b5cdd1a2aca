import type { EffectiveSetting } from './resolve-settings.ts';
import { flagOf, isSecret, SETTING_NAMES, SETTINGS, type SettingName, variableOf } from './settings.ts';

/** The settings in effect as aligned lines `name  value  (origin)`; secrets are replaced by `[redacted]`. */
export function formatSettings(settings: Readonly<Record<SettingName, EffectiveSetting>>): string {
  const rows = SETTING_NAMES.map(
    (name) => [name, showValue(name, settings[name]), settings[name].origin] as const,
  );
  const widths = [0, 1].map((column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  return rows
    .map(([name, value, origin]) => {
      const from = origin === 'default' ? '' : `  (${origin})`;
      return `${name.padEnd(widths[0] ?? 0)}  ${value.padEnd(from === '' ? 0 : (widths[1] ?? 0))}${from}\n`;
    })
    .join('');
}

/**
 * The settings in effect as one record for `JSON.stringify`, each with its value and where it comes from: what is off
 * is left out, secrets are `[redacted]`.
 */
export function redactSettings(
  settings: Readonly<Record<SettingName, EffectiveSetting>>,
): Readonly<Record<string, EffectiveSetting>> {
  return Object.fromEntries(
    SETTING_NAMES.filter((name) => settings[name].value !== undefined).map((name) => {
      const { value, origin } = settings[name];
      return [name, { value: isSecret(name) ? '[redacted]' : value, origin }];
    }),
  );
}

/** The settings as the Markdown table of the operations guide, one row each. */
export function settingsAsMarkdown(): string {
  const rows = SETTING_NAMES.map((name) => {
    const { default: byDefault, unit, sentence, secret } = SETTINGS[name];
    const flag = secret === 'hidden' ? `${flagOf(name)}-file` : flagOf(name);
    const value = byDefault === undefined ? 'off' : `\`${byDefault}\``;
    return `| \`${flag}\` | \`${variableOf(name)}\` | ${value} | ${unit ?? ''} | ${sentence} |`;
  });
  return ['| Flag | Variable | Default | Unit | What it does |', '|---|---|---|---|---|', ...rows].join('\n');
}

function showValue(name: SettingName, { value }: EffectiveSetting): string {
  if (value === undefined) return 'off';
  if (isSecret(name)) return '[redacted]';
  return Array.isArray(value) ? value.join(',') : String(value);
}
