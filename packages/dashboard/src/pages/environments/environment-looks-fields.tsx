import { useId } from 'react';
import type { EnvironmentColor } from '../../api/types.ts';
import { classNames } from '../../components/class-names.ts';
import { ENVIRONMENT_FILL } from '../../components/environment-badge.tsx';

/** The colours in the order in which they are offered. */
export const ENVIRONMENT_COLORS: readonly EnvironmentColor[] = [
  'green',
  'teal',
  'blue',
  'violet',
  'pink',
  'red',
  'amber',
  'gray',
];

/** What is chosen. */
export interface ChosenLooks {
  readonly color: EnvironmentColor;
  readonly protected: boolean;
}

/** Asks for a colour, and whether changes are to be confirmed. */
export function EnvironmentLooksFields({
  value,
  onChange,
}: {
  value: ChosenLooks;
  /** Given the member that was chosen. */
  onChange: (part: Partial<ChosenLooks>) => void;
}) {
  const name = useId();
  return (
    <>
      <fieldset className="min-w-0">
        <legend className="mb-1 font-medium">Colour</legend>
        <div className="grid grid-cols-2 gap-1.5 sm:grid-cols-4">
          {ENVIRONMENT_COLORS.map((color) => (
            <label
              key={color}
              className="flex min-h-8 items-center gap-2 rounded-md border border-line px-2.5 has-checked:border-accent has-checked:bg-accent-soft"
            >
              <input
                type="radio"
                name={name}
                className="size-4 shrink-0 accent-accent"
                checked={value.color === color}
                onChange={() => onChange({ color })}
              />
              <span
                aria-hidden
                className={classNames('size-2.5 shrink-0 rounded-full', ENVIRONMENT_FILL[color])}
              />
              {color}
            </label>
          ))}
        </div>
      </fieldset>
      <label className="flex min-h-6 items-start gap-2.5">
        <input
          type="checkbox"
          className="mt-0.5 size-4 shrink-0 accent-accent"
          checked={value.protected}
          onChange={(event) => onChange({ protected: event.target.checked })}
        />
        <span>
          Protected
          <span className="block text-xs text-ink-3">
            Only people with the permission change flags in it, and each change is confirmed.
          </span>
        </span>
      </label>
    </>
  );
}
