import type { EffectiveSetting, EffectiveSettings, EnvironmentVariables } from './config.ts';
import { flagOf, isSecret, SETTING_NAMES, SETTINGS, type SettingName, variableOf } from './settings.ts';

/** The settings in effect as aligned lines `name  value  (origin)`; secrets are replaced by `[redacted]`. */
export function formatSettings(settings: EffectiveSettings): string {
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
 * The settings in effect as one record for `JSON.stringify`, each with its value and origin. Settings that are off are
 * left out, secrets are `[redacted]`.
 */
export function redactSettings(settings: EffectiveSettings): Readonly<Record<string, EffectiveSetting>> {
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
  return ['| Flag | Variable | Default | Unit | Effect |', '|---|---|---|---|---|', ...rows].join('\n');
}

function showValue(name: SettingName, { value }: EffectiveSetting): string {
  if (value === undefined) return 'off';
  if (isSecret(name)) return '[redacted]';
  return Array.isArray(value) ? value.join(',') : String(value);
}

/** Variables of the commands other than `serve`, and of the applications in our documentation and the dashboard. */
const CLIENT_VARIABLES = [
  'HALYARD_KEY',
  'HALYARD_ENVIRONMENT',
  'HALYARD_URL',
  'HALYARD_TOKEN',
  'HALYARD_TOKEN_FILE',
  'HALYARD_ENV',
  'HALYARD_PROJECT',
  'HALYARD_PROFILE',
  'HALYARD_UPSTREAM',
  'HALYARD_RELAY_TOKEN',
  'HALYARD_RELAY_TOKEN_FILE',
] as const;

/** Every variable that Halyard or its documentation names. */
const KNOWN_VARIABLES: readonly string[] = [
  ...SETTING_NAMES.flatMap((name) =>
    isSecret(name) ? [variableOf(name), `${variableOf(name)}_FILE`] : [variableOf(name)],
  ),
  ...CLIENT_VARIABLES,
];

/**
 * One sentence for each unknown `HALYARD_…` variable, with the nearest known name. Unknown variables do not fail a
 * start, because a newer or older version may know them.
 */
export function describeUnknownVariables(env: EnvironmentVariables): string[] {
  return Object.keys(env)
    .filter((name) => name.startsWith('HALYARD_') && !KNOWN_VARIABLES.includes(name))
    .sort()
    .map((name) => {
      const nearest = nearestName(name, KNOWN_VARIABLES);
      return `Unknown setting ${name} (ignored).${nearest ? ` Did you mean ${nearest}?` : ''}`;
    });
}

/** The name of `known` nearest to a mistyped `name`; `undefined` if none is near. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  let best: { readonly name: string; readonly distance: number } | undefined;
  for (const candidate of known) {
    const distance = editDistance(name, candidate);
    if (best === undefined || distance < best.distance) best = { name: candidate, distance };
  }
  return best !== undefined && best.distance <= Math.max(2, Math.floor(name.length / 3))
    ? best.name
    : undefined;
}

/** The Levenshtein distance: insertions, deletions and replacements of letters. */
function editDistance(from: string, to: string): number {
  let previous = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const replaced = at(previous, column - 1) + (from[row - 1] === to[column - 1] ? 0 : 1);
      current.push(Math.min(replaced, at(previous, column) + 1, at(current, column - 1) + 1));
    }
    previous = current;
  }
  return at(previous, to.length);
}

function at(distances: readonly number[], index: number): number {
  return distances[index] ?? Number.POSITIVE_INFINITY;
}
