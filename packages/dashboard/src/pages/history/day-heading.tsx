import { LOCALE } from '../../components/locale.ts';

const format = new Intl.DateTimeFormat(LOCALE, {
  weekday: 'long',
  day: 'numeric',
  month: 'long',
  year: 'numeric',
});

/** A day of the timeline: `day` is local, as `2027-01-31`. */
export function DayHeading({ day }: { day: string }) {
  return (
    <h2 className="sticky top-0 z-10 bg-bg py-2 text-xs font-semibold tracking-wide text-ink-2">
      {dayText(day, new Date())}
    </h2>
  );
}

function dayText(day: string, now: Date): string {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number);
  const start = new Date(year, month - 1, date);
  const today = new Date(now.getFullYear(), now.getMonth(), now.getDate());
  // Days of a clock change are an hour longer or shorter.
  const daysAgo = Math.round((today.getTime() - start.getTime()) / 86_400_000);
  if (daysAgo === 0) return `Today, ${format.format(start)}`;
  return daysAgo === 1 ? `Yesterday, ${format.format(start)}` : format.format(start);
}
