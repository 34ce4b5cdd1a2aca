import { Highlight } from './highlight.tsx';

/** Longer keys may be cut in the middle, because their ends tell them apart. In characters. */
const [LONG, LONGEST_END, SHORTEST_END] = [24, 16, 4];

const NO_WORDS: readonly string[] = [];

/** The key of a flag in a fixed-width font, cut in the middle where it does not fit. The words of a search are marked. */
export function CutKey({ flag, words = NO_WORDS }: { flag: string; words?: readonly string[] }) {
  const cut = cutOf(flag);
  return (
    // As wide as whole characters, so that no gap remains between the ellipsis and the end. A pixel more: rounded widths
    // must not cut a key that fits.
    <span className="flex max-w-[round(down,calc(100%+1px),1ch)] min-w-0">
      {/* Never so narrow that the ellipsis is lost: the end alone looks like another key. */}
      <span className={cut < flag.length ? 'min-w-[4ch] truncate whitespace-pre' : 'truncate whitespace-pre'}>
        <Highlight text={flag} words={words} to={cut} />
      </span>
      {cut < flag.length && (
        <span className="shrink-0">
          <Highlight text={flag} words={words} from={cut} />
        </span>
      )}
    </span>
  );
}

/** Where a key may be cut: before its last parts, or not at all. */
function cutOf(key: string): number {
  if (key.length <= LONG) return key.length;
  const part = key.slice(-LONGEST_END, -SHORTEST_END).search(/[._-]/);
  return key.length - LONGEST_END + Math.max(0, part);
}
