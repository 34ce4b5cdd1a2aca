import CircleAlert from 'lucide-react/icons/circle-alert';
import CircleCheck from 'lucide-react/icons/circle-check';
import CircleSlash from 'lucide-react/icons/circle-slash';
import Clock from 'lucide-react/icons/clock';
import type { ReactNode } from 'react';
import type { ScheduleStatus } from '../../api/schedules.ts';
import { classNames } from '../../components/class-names.ts';

const LOOKS: Readonly<Record<ScheduleStatus, readonly [icon: ReactNode, className: string]>> = {
  pending: [<Clock key="icon" size={13} aria-hidden />, 'bg-accent-soft text-accent'],
  done: [<CircleCheck key="icon" size={13} aria-hidden />, 'bg-good-soft text-good'],
  failed: [<CircleAlert key="icon" size={13} aria-hidden />, 'bg-danger-soft text-danger'],
  cancelled: [<CircleSlash key="icon" size={13} aria-hidden />, 'bg-hover text-ink-2'],
};

/** How a schedule stands, as a sign and a word. */
export function StatusBadge({ status }: { status: ScheduleStatus }) {
  const [icon, className] = LOOKS[status];
  return (
    <span
      className={classNames(
        'inline-flex h-5 items-center gap-1 rounded px-1.5 text-xs font-medium',
        className,
      )}
    >
      {icon} {status}
    </span>
  );
}
