import type { EnvironmentRecord } from '../api/types.ts';
import { Select } from './select.tsx';

/** Chooses one environment by its name, with `label` before it. */
export function EnvironmentSelect({
  label,
  environments,
  chosen,
  onChoose,
}: {
  label: string;
  environments: readonly EnvironmentRecord[];
  chosen: EnvironmentRecord;
  onChoose: (name: string) => void;
}) {
  return (
    <span className="flex items-center gap-2">
      <span aria-hidden className="text-ink-2">
        {label}
      </span>
      <Select
        label={label}
        value={chosen.name}
        onChange={(event) => onChoose(event.target.value)}
        className="max-w-44"
      >
        {environments.map(({ name }) => (
          <option key={name}>{name}</option>
        ))}
      </Select>
    </span>
  );
}
