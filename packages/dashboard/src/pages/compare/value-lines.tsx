import type { Json } from '../../api/types.ts';
import { diffFields } from '../../components/audit/diff-fields.ts';
import { cutAround } from '../../components/audit/diff-lines.ts';
import { classNames } from '../../components/class-names.ts';
import { messages } from './messages.tsx';

/** A part of a value that differs: a member of an object or a list, or the value itself. */
interface ValueLine {
  /** Of a member: its path, or the end of a long one. */
  readonly path?: string;
  readonly sides: readonly [from: string | undefined, to: string | undefined];
}

/** How many lines a closed row has for a value. */
const LINES = 2;

/** Characters of a part and of its path: for one that has both lines, and for one that has a line. */
const [WIDE, NARROW] = [
  { text: 64, path: 28 },
  { text: 26, path: 20 },
] as const;

/** What differs between two values, in two lines. `left`: how many more members differ. */
export function valueLines(
  from: Json | undefined,
  to: Json | undefined,
): { readonly lines: readonly ValueLine[]; readonly left: number } {
  const isPair = from !== undefined && to !== undefined;
  const members = isPair ? diffFields(from, to).filter(({ path }) => path !== '') : [];
  if (members.length === 0)
    return { lines: [{ sides: cutAround(textOf(from), textOf(to), WIDE.text) }], left: 0 };

  const most = members.length === 1 ? WIDE : NARROW;
  const lines = members.slice(0, LINES).map(({ path, before, after }) => ({
    path: path.length > most.path ? `…${path.slice(1 - most.path)}` : path,
    sides: cutAround(textOf(before), textOf(after), most.text),
  }));
  return { lines, left: members.length - lines.length };
}

/** One side of {@link valueLines}, with the part marked that differs from the other side. */
export function ValueSide({
  value: { lines, left },
  side,
}: {
  value: ReturnType<typeof valueLines>;
  side: 0 | 1;
}) {
  return lines.map(({ path, sides }, index) => (
    <span
      key={path ?? ''}
      className={classNames('min-w-0', lines.length === 1 ? 'line-clamp-2 wrap-anywhere' : 'flex gap-x-1.5')}
    >
      <span className={lines.length === 1 ? undefined : 'truncate'}>
        {path !== undefined && `${path}: `}
        <Marked text={sides[side]} other={sides[1 - side]} />
      </span>
      {left > 0 && index === lines.length - 1 && (
        <span className="shrink-0 text-ink-3">{messages.more(left)}</span>
      )}
    </span>
  ));
}

/** A text, with what another text does not have at this place marked. */
function Marked({ text, other }: { text: string | undefined; other: string | undefined }) {
  if (text === undefined) return messages.absent;
  if (other === undefined) return text;

  // Half of "true" or of a number says nothing.
  const isText = /^["…]/.test(text) && /^["…]/.test(other);
  const shorter = isText ? Math.min(text.length, other.length) : 0;
  let start = 0;
  while (start < shorter && text[start] === other[start]) start++;
  let end = 0;
  while (end < shorter - start && text.at(-1 - end) === other.at(-1 - end)) end++;
  const differing = text.slice(start, text.length - end);
  // A mark over all of a long text shows nothing.
  if (differing.length === text.length && text.length > NARROW.text) return text;
  return (
    <>
      {text.slice(0, start)}
      {differing !== '' && <mark className="rounded-xs bg-flash text-ink">{differing}</mark>}
      {text.slice(text.length - end)}
    </>
  );
}

function textOf(value: Json | undefined): string | undefined {
  return value === undefined ? undefined : JSON.stringify(value);
}
