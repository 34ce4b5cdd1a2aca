import type { WebhookRecord } from '../../api/types.ts';
import { LOCALE, useTimeRefresh } from '../../components/time-ago.tsx';
import { messages } from './messages.tsx';

const HOUR_MS = 3_600_000;
const HOURS = 24;

/** The width of an hour in the drawing. */
const STEP = 5;

/** The height of each half of the drawing. */
const HALF = 12;

const hourOfDay = new Intl.DateTimeFormat(LOCALE, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });

/** The attempts of the last 24 hours, an hour in each place: those that were delivered above the line, those that failed below. */
export function AttemptsBar({ hours }: { hours: WebhookRecord['hours'] }) {
  useTimeRefresh();
  const newest = Math.floor(Date.now() / HOUR_MS);
  const shown = hours.map((hour) => ({ ...hour, place: HOURS - 1 - newest + Date.parse(hour.at) / HOUR_MS }));
  const most = Math.max(1, ...shown.flatMap(({ delivered, failed }) => [delivered, failed]));
  const sum = (name: 'delivered' | 'failed') => shown.reduce((total, hour) => total + hour[name], 0);
  const total = messages.attempts(sum('delivered'), sum('failed'));
  // One attempt is seen beside hundreds.
  const height = (count: number) => (count === 0 ? 0 : Math.max(2, (count / most) * HALF));

  return (
    <div className="flex flex-col items-start gap-0.5">
      <svg aria-hidden width={HOURS * STEP} height={2 * HALF + 1} className="forced-color-adjust-none">
        <rect y={HALF} width={HOURS * STEP} height="1" className="fill-line-strong" />
        {shown.map(({ at, place, delivered, failed }) => (
          <g key={at}>
            <title>
              {messages.hour(hourOfDay.format(new Date(at)), messages.attempts(delivered, failed))}
            </title>
            <rect
              x={place * STEP}
              y={HALF - height(delivered)}
              width={STEP - 1}
              height={height(delivered)}
              className="fill-good"
            />
            <rect
              x={place * STEP}
              y={HALF + 1}
              width={STEP - 1}
              height={height(failed)}
              className="fill-danger"
            />
          </g>
        ))}
      </svg>
      <span className="text-xs text-ink-3">{total === '' ? messages.noAttempts : total}</span>
    </div>
  );
}
