import { useId } from 'react';
import { SINGLE_KEYS } from '../../components/use-shortcut.ts';
import { useStoredChoice } from '../../shell/stored-choice.ts';
import { type Theme, useTheme } from '../../shell/theme.ts';

const THEMES: readonly (readonly [Theme, string])[] = [
  ['system', 'As the system'],
  ['light', 'Light'],
  ['dark', 'Dark'],
];

const DENSITIES = ['comfortable', 'compact'] as const;
const DENSITY_NAMES = [
  ['comfortable', 'Comfortable'],
  ['compact', 'Compact'],
] as const;

const SINGLE_KEY_NAMES = [
  ['on', 'On'],
  ['off', 'Off'],
] as const;

/** How the dashboard looks in this browser, and whether single keys do anything. */
export function AppearanceForm() {
  const [theme, setTheme] = useTheme();
  const [singleKeys, setSingleKeys] = useStoredChoice('single-keys', SINGLE_KEYS, 'on');
  const [density, setDensity] = useStoredChoice('density', DENSITIES, 'comfortable');
  return (
    <div className="flex flex-col gap-4">
      <Choice legend="Theme" choices={THEMES} chosen={theme} onChoose={setTheme} />
      <Choice
        legend="Rows of the flag table"
        choices={DENSITY_NAMES}
        chosen={density}
        onChoose={setDensity}
      />
      <Choice
        legend="Single-key shortcuts, such as n and j"
        choices={SINGLE_KEY_NAMES}
        chosen={singleKeys}
        onChoose={setSingleKeys}
      />
      <p className="text-xs text-ink-3">Kept in this browser.</p>
    </div>
  );
}

function Choice<Value extends string>({
  legend,
  choices,
  chosen,
  onChoose,
}: {
  legend: string;
  choices: readonly (readonly [value: Value, label: string])[];
  chosen: Value;
  onChoose: (value: Value) => void;
}) {
  const name = useId();
  return (
    <fieldset>
      <legend className="mb-1 font-medium">{legend}</legend>
      <div className="flex flex-wrap gap-1.5">
        {choices.map(([value, label]) => (
          <label
            key={value}
            className="flex min-h-8 items-center gap-2 rounded-md border border-line px-2.5 has-checked:border-accent has-checked:bg-accent-soft"
          >
            <input
              type="radio"
              name={name}
              className="size-4 accent-accent"
              checked={chosen === value}
              onChange={() => onChoose(value)}
            />
            {label}
          </label>
        ))}
      </div>
    </fieldset>
  );
}
