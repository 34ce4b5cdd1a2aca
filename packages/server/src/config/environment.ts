import { nearestName } from './nearest-name.ts';
import { isSecret, SETTING_NAMES, variableOf } from './settings.ts';

/** Environment variables, as `process.env` holds them. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The variables that only the commands other than `serve` read. */
const CLIENT_VARIABLES = ['HALYARD_URL', 'HALYARD_TOKEN', 'HALYARD_TOKEN_FILE'] as const;

/** Every variable that Halyard reads. */
const KNOWN_VARIABLES: readonly string[] = [
  ...SETTING_NAMES.flatMap((name) =>
    isSecret(name) ? [variableOf(name), `${variableOf(name)}_FILE`] : [variableOf(name)],
  ),
  ...CLIENT_VARIABLES,
];

/**
 * One sentence for each `HALYARD_…` variable that nothing reads, with the name that was probably meant. They are no
 * reason not to start: a newer or older version may know them.
 */
export function describeUnknownVariables(env: Environment): string[] {
  return Object.keys(env)
    .filter((name) => name.startsWith('HALYARD_') && !KNOWN_VARIABLES.includes(name))
    .sort()
    .map((name) => {
      const nearest = nearestName(name, KNOWN_VARIABLES);
      return `Unknown setting ${name} (ignored).${nearest ? ` Did you mean ${nearest}?` : ''}`;
    });
}
