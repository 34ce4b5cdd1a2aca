import ArrowRight from 'lucide-react/icons/arrow-right';
import { useState } from 'react';
import type { Json } from '../../api/types.ts';
import { diffFields, type FieldChange } from './diff-fields.ts';
import { fieldNames, messages } from './messages.ts';

/** How many fields are shown at first. */
const FEW = 8;

/** Longer values are cut at first. */
const LONG = 160;

/** The fields that differ between two versions, old and new side by side. `undefined`: there is no such version. */
export function FieldDiff({ before, after }: { before: Json | undefined; after: Json | undefined }) {
  const [isWhole, setWhole] = useState(false);
  const changes = diffFields(before, after);
  if (changes.length === 0 && (before === undefined || after === undefined)) return null;
  if (changes.length === 0) return <p className="text-xs text-ink-3">{messages.formattingOnly}</p>;
  const isCut = changes.length > FEW || changes.some(({ before, after }) => isLong(before) || isLong(after));
  const shown = isWhole ? changes : changes.slice(0, FEW);
  return (
    <div>
      <ul className="flex flex-col gap-1">
        {shown.map((change) => (
          <Line key={change.path} change={change} isWhole={isWhole} />
        ))}
      </ul>
      {isCut && (
        <button
          type="button"
          aria-expanded={isWhole}
          className="mt-1 min-h-6 text-xs text-accent hover:underline"
          onClick={() => setWhole(!isWhole)}
        >
          {isWhole
            ? messages.showLess
            : changes.length > FEW
              ? messages.showAllDifferences(changes.length)
              : messages.showWhole}
        </button>
      )}
    </div>
  );
}

function Line({ change: { path, before, after }, isWhole }: { change: FieldChange; isWhole: boolean }) {
  return (
    <li className="flex flex-wrap items-baseline gap-x-2 gap-y-0.5 text-xs">
      {path !== '' && <FieldName path={path} />}
      <Side value={before} isWhole={isWhole} side="before" />
      <ArrowRight
        size={12}
        role="img"
        aria-label={messages.becomes}
        className="shrink-0 self-center text-ink-3"
      />
      <Side value={after} isWhole={isWhole} side="after" />
    </li>
  );
}

/** The readable name of a recorded field. A path inside its value stays as it is in the JSON. */
function FieldName({ path }: { path: string }) {
  const end = path.search(/[.[]/);
  const name = end === -1 ? path : path.slice(0, end);
  const label = Object.hasOwn(fieldNames, name) ? fieldNames[name] : undefined;
  if (label === undefined) return <span className="font-mono break-all text-ink-3">{path}</span>;
  return (
    <span className="break-all text-ink-3">
      {label}
      {end !== -1 && <span className="font-mono">{path.slice(end)}</span>}
    </span>
  );
}

const STYLES = {
  before: 'bg-danger-soft text-danger decoration-danger/60 line-through',
  after: 'bg-good-soft text-good',
} as const;

function Side({
  value,
  isWhole,
  side,
}: {
  value: Json | undefined;
  isWhole: boolean;
  side: keyof typeof STYLES;
}) {
  if (value === undefined) return <span className="text-ink-3 italic">{messages.nothing}</span>;
  const text = JSON.stringify(value);
  const Tag = side === 'before' ? 'del' : 'ins';
  return (
    <Tag
      className={`max-w-full rounded px-1 py-px font-mono break-all whitespace-pre-wrap no-underline ${STYLES[side]}`}
    >
      {isWhole || text.length <= LONG ? text : `${text.slice(0, LONG)}…`}
    </Tag>
  );
}

function isLong(value: Json | undefined): boolean {
  return value !== undefined && JSON.stringify(value).length > LONG;
}
