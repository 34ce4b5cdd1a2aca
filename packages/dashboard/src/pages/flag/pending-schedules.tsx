import { useId } from 'react';
import { Link } from 'wouter';
import { useSchedules } from '../../api/schedules.ts';
import type { ProjectRecord } from '../../api/types.ts';
import { ErrorText } from '../../components/error-text.tsx';
import { links } from '../../shell/links.ts';
import { ScheduleItem } from '../schedules/schedule-item.tsx';

/** The changes of a flag that wait for their time. */
export function PendingSchedules({ project, flagKey }: { project: ProjectRecord; flagKey: string }) {
  const id = useId();
  const { data, error } = useSchedules(project.name);
  const pending = (data ?? []).filter(
    ({ status, changes }) => status === 'pending' && changes.some(({ key }) => key === flagKey),
  );
  return (
    <section aria-labelledby={id} className="rounded-lg border border-line bg-surface">
      <div className="flex items-baseline justify-between gap-2 px-4 pt-4 pb-2">
        <h2 id={id} className="text-base font-semibold">
          Scheduled
        </h2>
        <Link href={links.schedules(project.name)} className="text-xs text-accent hover:underline">
          All schedules
        </Link>
      </div>
      {error !== null && (
        <div role="alert" className="px-4 pb-4 text-danger">
          <ErrorText error={error} />
        </div>
      )}
      {pending.length === 0 ? (
        <p className="px-4 pb-4 text-xs text-ink-3">
          Nothing waits. “Schedule a change” in an environment's menu makes one at a time you choose.
        </p>
      ) : (
        <ul className="px-1 pb-1">
          {pending.map((schedule) => (
            <ScheduleItem key={schedule.id} project={project.name} schedule={schedule} />
          ))}
        </ul>
      )}
    </section>
  );
}
