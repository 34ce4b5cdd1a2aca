import { useSyncExternalStore } from 'react';

const STEPS: readonly (readonly [unit: Intl.RelativeTimeFormatUnit, ms: number])[] = [
  ['year', 31_557_600_000],
  ['month', 2_629_800_000],
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
];

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' });
const absolute = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

/** How long ago a time was; hovering tells it in local time and UTC. `at` is ISO 8601. */
export function TimeAgo({ at, className }: { at: string; className?: string }) {
  const minute = useSyncExternalStore(subscribe, () => Math.floor(Date.now() / 30_000));
  const date = new Date(at);
  return (
    <time dateTime={at} title={fullTime(date)} className={className} data-minute={minute}>
      {timeAgo(date.getTime(), Date.now())}
    </time>
  );
}

/** A time in words, as "3 min. ago"; both in epoch milliseconds. */
export function timeAgo(at: number, now: number): string {
  const distance = at - now;
  const step = STEPS.find(([, ms]) => Math.abs(distance) >= ms);
  if (step === undefined) return distance > 5_000 ? 'in a moment' : 'just now';
  return relative.format(Math.round(distance / step[1]), step[0]);
}

/** A time in full: local, and UTC. */
export function fullTime(date: Date): string {
  return `${absolute.format(date)} (${date.toISOString().replace('T', ' ').slice(0, 19)} UTC)`;
}

function subscribe(listener: () => void): () => void {
  const timer = setInterval(listener, 30_000);
  return () => clearInterval(timer);
}
