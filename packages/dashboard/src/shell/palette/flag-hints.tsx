import Lock from 'lucide-react/icons/lock';
import type { EnvironmentRecord, FlagRecord, StateRecord } from '../../api/types.ts';
import { ENVIRONMENT_FILL } from '../../components/badges.tsx';
import { classNames } from '../../components/class-names.ts';
import { messages } from './messages.ts';

/** More environments are not shown. */
const MOST = 8;

/** Where a flag is on: a dot in the color of each environment, which is hollow where the flag is off. */
export function FlagStates({
  flag,
  environments,
}: {
  flag: FlagRecord;
  environments: readonly EnvironmentRecord[];
}) {
  const shown = environments.slice(0, MOST);
  const on = shown.filter(({ name }) => flag.environments[name]?.state.enabled === true);
  return (
    <span
      className="flex shrink-0 items-center gap-1"
      title={messages.palette.onIn(on.map(({ name }) => name))}
    >
      <span className="sr-only">{messages.palette.onIn(on.map(({ name }) => name))}</span>
      {shown.map(({ name, color }) => {
        const record = flag.environments[name];
        return (
          <span
            key={name}
            aria-hidden
            className={classNames(
              'size-2 rounded-full',
              record?.state.enabled === true ? ENVIRONMENT_FILL[color] : 'border border-line-strong',
              record === undefined && 'opacity-40',
            )}
          />
        );
      })}
    </span>
  );
}

/** The state that a switch has now, and the color of its environment, whose name is in the title. */
export function SwitchState({
  environment,
  record,
}: {
  environment: EnvironmentRecord;
  record: StateRecord | undefined;
}) {
  return (
    <span aria-hidden className="flex shrink-0 items-center gap-1.5 text-xs text-ink-3">
      <span className="max-sm:hidden">{messages.palette.now(record?.state)}</span>
      {environment.protected && <Lock size={12} />}
      <span className={classNames('size-2 rounded-full', ENVIRONMENT_FILL[environment.color])} />
    </span>
  );
}
