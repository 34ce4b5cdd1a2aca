import type { EnvironmentRecord } from '../../api/types.ts';
import { useReadOnlyReason } from '../../changes/change-guards.tsx';
import { EnvironmentBadge } from '../../components/environment-badge.tsx';
import { Switch } from '../../components/switch.tsx';

/** Where a new flag is on at first. Where the person may not change anything, it is not put at all. */
export function FirstStates({
  environments,
  enabledIn,
  onChange,
}: {
  environments: readonly EnvironmentRecord[];
  enabledIn: ReadonlySet<string>;
  onChange: (enabledIn: ReadonlySet<string>) => void;
}) {
  const readOnlyReason = useReadOnlyReason();
  function set(name: string, isEnabled: boolean): void {
    const next = new Set(enabledIn);
    if (isEnabled) next.add(name);
    else next.delete(name);
    onChange(next);
  }
  return (
    <fieldset>
      <legend className="mb-1 font-medium">On at first in</legend>
      <ul className="divide-y divide-line rounded-md border border-line">
        {environments.map((environment) => {
          const { name } = environment;
          const refusal = readOnlyReason(environment);
          return (
            <li key={name} className="flex h-10 items-center gap-2 px-3" title={refusal}>
              <EnvironmentBadge environment={environment} className="flex-1" />
              <span className="text-xs text-ink-3">
                {refusal !== undefined ? 'Not yours to change' : enabledIn.has(name) ? 'On' : 'Off'}
              </span>
              <Switch
                label={`On at first in ${name}`}
                checked={enabledIn.has(name)}
                disabled={refusal !== undefined}
                onChange={(event) => set(name, event.target.checked)}
              />
            </li>
          );
        })}
      </ul>
    </fieldset>
  );
}
