import { messages } from './messages.ts';
import { HOUR_MS, type Reads, readBars, sumOf } from './read-bars.ts';

const HOURS = 24;

/** The reads of the last 24 hours as small bars, one for each hour: the lower part is the reads for which the flag was on. */
export function ReadsSpark({ reads }: { reads: readonly Reads[] }) {
  const { bars, most } = readBars(reads, { stepMs: HOUR_MS, count: HOURS, now: Date.now() });
  const { on, off } = sumOf(bars);
  const text = `${messages.last24Hours}: ${messages.reads(on, off)}`;
  const path = (heights: readonly (readonly [from: number, to: number])[]) =>
    heights
      .map(([from, to], index) =>
        to > from ? `M${index + 0.1} ${1 - from}v${from - to}h.8v${to - from}z` : '',
      )
      .join('');

  return (
    <svg
      className="mt-1 block h-4 w-24 forced-color-adjust-none"
      viewBox={`0 0 ${HOURS} 1`}
      preserveAspectRatio="none"
      role="img"
      aria-label={text}
    >
      <title>{text}</title>
      <rect className="fill-line" x={0} y={0.94} width={HOURS} height={0.06} />
      <path className="fill-accent" d={path(bars.map((bar) => [0, bar.on / most]))} />
      <path
        className="fill-line-strong"
        d={path(bars.map((bar) => [bar.on / most, (bar.on + bar.off) / most]))}
      />
    </svg>
  );
}
