import type { ScheduleRecord } from '../../api/schedules.ts';
import { useSearchState } from '../../api/use-search-state.ts';
import { classNames } from '../../components/class-names.ts';

const CHOICES = ['', 'pending', 'done', 'failed', 'cancelled'] as const;

/** Which schedules are listed; kept in the address. */
export function StatusTabs({ schedules }: { schedules: readonly ScheduleRecord[] }) {
  const [params, setParams] = useSearchState();
  const chosen = params.get('status') ?? '';
  return (
    <fieldset className="mb-3 flex flex-wrap gap-1">
      <legend className="sr-only">Which schedules</legend>
      {CHOICES.map((status) => {
        const count = schedules.filter((each) => status === '' || each.status === status).length;
        return (
          <button
            key={status}
            type="button"
            aria-pressed={status === chosen}
            className={classNames(
              'h-7 rounded-md px-2.5',
              status === chosen
                ? 'bg-accent-soft font-medium text-accent'
                : 'text-ink-2 hover:bg-hover hover:text-ink',
            )}
            onClick={() => setParams({ status })}
          >
            {status === '' ? 'all' : status} <span className="text-xs">{count}</span>
          </button>
        );
      })}
    </fieldset>
  );
}
