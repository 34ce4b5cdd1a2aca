import { useId } from 'react';
import type { EnvironmentRecord } from '../../api/types.ts';
import { EnvironmentBadge } from '../../components/environment-badge.tsx';

/** Asks which environments a key opens. */
export function EnvironmentChoice({
  environments,
  chosen,
  onChange,
  error,
}: {
  environments: readonly EnvironmentRecord[];
  chosen: readonly string[];
  onChange: (names: readonly string[]) => void;
  error: string | undefined;
}) {
  const noteId = useId();
  function toggle(name: string, isChosen: boolean): void {
    const names = environments.map((environment) => environment.name);
    onChange(names.filter((each) => (each === name ? isChosen : chosen.includes(each))));
  }
  return (
    <fieldset className="min-w-0" aria-describedby={noteId}>
      <legend className="mb-1 font-medium">Environments</legend>
      <div className="relative max-h-52 divide-y divide-line overflow-y-auto rounded-md border border-line">
        {environments.map((environment) => (
          <label
            key={environment.name}
            className="flex min-h-9 items-center gap-2.5 px-3 has-checked:bg-accent-soft"
          >
            <input
              type="checkbox"
              className="size-4 shrink-0 accent-accent"
              checked={chosen.includes(environment.name)}
              onChange={(event) => toggle(environment.name, event.target.checked)}
            />
            <EnvironmentBadge environment={environment} />
          </label>
        ))}
      </div>
      <p id={noteId} className={`mt-1 text-xs ${error === undefined ? 'text-ink-3' : 'text-danger'}`}>
        {error ?? 'The key reads these and nothing else. One environment each is safest.'}
      </p>
    </fieldset>
  );
}
