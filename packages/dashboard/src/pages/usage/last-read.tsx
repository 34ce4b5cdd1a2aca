import { useProject } from '../../api/projects.ts';
import { useFlagUsage } from '../../api/usage.ts';
import { TimeAgo, useTimeRefresh } from '../../components/time-ago.tsx';
import type { RowFactProps } from '../flag/panels.tsx';
import { messages } from './messages.ts';

const HOUR_MS = 3_600_000;

/** When a flag was last read. The server knows it to the hour. */
export function LastRead({ at }: { at: string | undefined }) {
  useTimeRefresh();
  if (at === undefined) return messages.never;
  const end = Date.parse(at) + HOUR_MS;
  if (end >= Date.now()) return messages.lastHour;
  return <TimeAgo at={new Date(end).toISOString()} />;
}

/** Says in an environment's row when the flag was last read there. */
export function RowLastRead({ project: name, flagKey, environment }: RowFactProps) {
  const project = useProject(name).data;
  const { data } = useFlagUsage({ name, ...project }, flagKey);
  const here = data?.environments.find((each) => each.name === environment.name);
  if (here?.lastReadAt === undefined) return null;
  return (
    <span className="ml-1.5">
      · {messages.read} <LastRead at={here.lastReadAt} />
    </span>
  );
}
