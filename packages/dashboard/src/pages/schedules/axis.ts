import { LOCALE } from '../../components/time-ago.tsx';
import { messages } from './messages.ts';
import type { Moment } from './timeline-items.ts';
import { SPAN_MS } from './timeline-items.ts';

/** A midnight on the axis. */
interface Day {
  readonly at: number;
  /** From 0, now, to 1, the end. */
  readonly share: number;
  /** As "Tue" and "24". */
  readonly weekday: string;
  readonly day: string;
}

const weekday = new Intl.DateTimeFormat(LOCALE, { weekday: 'short' });
const dayOfMonth = new Intl.DateTimeFormat(LOCALE, { day: 'numeric' });

/** The midnights of the next seven days, in the person's zone: days differ in length when clocks change. */
export function daysFrom(now: number): readonly Day[] {
  const days: Day[] = [];
  const date = new Date(now);
  date.setHours(24, 0, 0, 0);
  for (; date.getTime() < now + SPAN_MS; date.setDate(date.getDate() + 1)) {
    const at = date.getTime();
    days.push({ at, share: shareOf(at, now), weekday: weekday.format(date), day: dayOfMonth.format(date) });
  }
  return days;
}

/** Where a time stands on the axis: 0 for now and before, 1 for its end and after. */
export function shareOf(at: number, now: number): number {
  return Math.min(1, Math.max(0, (at - now) / SPAN_MS));
}

/** Moments whose dots would touch, as one dot. */
interface Dot {
  readonly share: number;
  readonly moments: readonly Moment[];
  /** Of the first and the last, if there is room for it before the next dot. */
  readonly label: string;
}

/** The least distance of two dots, as a share of the axis. */
const TOUCHING = 0.03;

/** The room that a label needs, as a share of the axis. */
const ROOM = 0.1;

/** The dots of an item: moments within the seven days, those that are close together in one. */
export function dotsOf(moments: readonly Moment[], now: number): readonly Dot[] {
  const groups: { share: number; moments: Moment[] }[] = [];
  for (const moment of moments) {
    if (moment.at > now + SPAN_MS) continue;
    const share = shareOf(moment.at, now);
    const last = groups.at(-1);
    if (last !== undefined && share - last.share < TOUCHING) last.moments.push(moment);
    else groups.push({ share, moments: [moment] });
  }

  return groups.map(({ share, moments: close }, index) => {
    const hasRoom = (groups[index + 1]?.share ?? 2) - share >= ROOM * (close.length > 1 ? 1.6 : 1);
    const [first, last] = [close[0]?.label ?? '', close.at(-1)?.label ?? ''];
    const label = close.length > 1 ? messages.range(first, last) : first;
    return { share, moments: close, label: hasRoom ? label : '' };
  });
}
