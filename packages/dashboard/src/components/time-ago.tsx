import { useSyncExternalStore } from 'react';
import { messages } from './messages.ts';

const words = messages.reads;

/** The language of all text on screens, including dates and numbers. */
export const LOCALE = 'en';

/** How often relative times are updated, in milliseconds. */
const REFRESH_MS = 30_000;

const STEPS: readonly (readonly [unit: Intl.RelativeTimeFormatUnit, ms: number])[] = [
  ['year', 31_557_600_000],
  ['month', 2_629_800_000],
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
];

const days = new Intl.RelativeTimeFormat(LOCALE, { numeric: 'auto' });
const hours = new Intl.RelativeTimeFormat(LOCALE, { numeric: 'auto', style: 'short' });
const absolute = new Intl.DateTimeFormat(LOCALE, { dateStyle: 'medium', timeStyle: 'medium' });

/** A relative time; hovering shows it in local time and UTC. `at` is ISO 8601. */
export function TimeAgo({ at, className }: { at: string; className?: string }) {
  const tick = useTimeRefresh();
  const date = new Date(at);
  return (
    <time dateTime={at} title={fullTime(date)} className={className} data-tick={tick}>
      {timeAgo(date.getTime(), Date.now())}
    </time>
  );
}

const HOUR_MS = 3_600_000;

/** When a flag was last read, which the server knows to the hour: `at` is the hour's start (ISO 8601), `undefined` for never. */
export function ReadTime({ at }: { at: string | undefined }) {
  useTimeRefresh();
  if (at === undefined) return words.never;
  const end = Date.parse(at) + HOUR_MS;
  if (end >= Date.now()) return words.lastHour;
  return <TimeAgo at={new Date(end).toISOString()} />;
}

/** Renders the component again at intervals, so that relative times stay correct; returns a new number each time. */
export function useTimeRefresh(): number {
  return useSyncExternalStore(subscribe, () => Math.floor(Date.now() / REFRESH_MS));
}

/**
 * A relative time such as "3 min ago"; both arguments in epoch milliseconds. Units have no period, because a time often
 * ends a sentence.
 */
export function timeAgo(at: number, now: number): string {
  const distance = at - now;
  const step = STEPS.find(([, ms]) => Math.abs(distance) >= ms);
  if (step === undefined) return distance > 5_000 ? 'in a moment' : 'just now';
  const [unit, ms] = step;
  const format = ms < 86_400_000 ? hours : days;
  return format.format(Math.round(distance / ms), unit).replace('.', '');
}

const short = new Intl.DateTimeFormat(LOCALE, { dateStyle: 'medium', timeStyle: 'short' });

/** A time on one line, in local time to the minute. */
export function localTime(date: Date): string {
  return short.format(date);
}

/** A full time: local, and UTC. */
export function fullTime(date: Date): string {
  return `${absolute.format(date)} (${date.toISOString().replace('T', ' ').slice(0, 19)} UTC)`;
}

/** One timer for all relative times on the screen. */
const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    for (const each of listeners) each();
  }, REFRESH_MS);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}
