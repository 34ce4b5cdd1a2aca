import { useState } from 'react';
import type { Json } from '../../api/types.ts';
import { Becomes } from '../becomes.tsx';
import { FoldButton } from '../fold-button.tsx';
import { fullTime } from '../time-ago.tsx';
import { membersOf } from './action-text.ts';
import { diffFields, type FieldChange, type Versions } from './diff-fields.ts';
import { cutAround } from './diff-lines.ts';
import { JsonDiff } from './json-diff.tsx';
import { fieldNames, messages, words } from './messages.ts';

/** How many fields are shown at first. */
const FEW = 8;

/** Longer values are cut at first. */
const LONG = 160;

/** The fields that differ between two versions, old and new side by side. */
export function FieldDiff({ before, after }: Versions) {
  const [old, young] = [membersOf(before).value, membersOf(after).value];
  if ((!isTree(old) && !isTree(young)) || JSON.stringify(old) === JSON.stringify(young))
    return <FieldLines before={before} after={after} />;
  const [oldRest, youngRest] = [withoutValue(before), withoutValue(after)];
  return (
    <div className="flex flex-col gap-1.5">
      {diffFields(oldRest, youngRest).length > 0 && <FieldLines before={oldRest} after={youngRest} />}
      <JsonDiff label={fieldNames.value ?? ''} before={old} after={young} />
    </div>
  );
}

/** Whether a value is worth comparing line by line. */
function isTree(value: Json | undefined): boolean {
  return typeof value === 'object' && value !== null;
}

function withoutValue(version: Json | undefined): Json | undefined {
  if (version === undefined) return undefined;
  const { value: _value, ...rest } = membersOf(version);
  return rest as Json;
}

function FieldLines({ before, after }: Versions) {
  const [isWhole, setWhole] = useState(false);
  const changes = diffFields(before, after);
  if (changes.length === 0 && (before === undefined || after === undefined)) return null;
  if (changes.length === 0) return <p className="text-xs text-ink-3">{messages.formattingOnly}</p>;
  const isCut = changes.length > FEW || changes.some((each) => isLong(each.before) || isLong(each.after));
  const shown = isWhole ? changes : changes.slice(0, FEW);

  return (
    <div>
      <ul className="flex flex-col gap-1">
        {shown.map((change) => (
          <Line key={change.path} change={change} isWhole={isWhole} versions={{ before, after }} />
        ))}
      </ul>
      {isCut && (
        <FoldButton isOpen={isWhole} onToggle={setWhole}>
          {isWhole
            ? messages.showLess
            : changes.length > FEW
              ? messages.showAllDifferences(changes.length)
              : messages.showWhole}
        </FoldButton>
      )}
    </div>
  );
}

function Line({
  change: { path, before, after },
  isWhole,
  versions: { before: old, after: young },
}: {
  change: FieldChange;
  isWhole: boolean;
  /** Both as a whole. */
  versions: Versions;
}) {
  const isNew = old === undefined;
  const text = (value: Json | undefined, version: Json | undefined) => {
    if (path === 'rolloutPct' && version !== undefined) return rolloutText(value, version);
    return value === undefined ? undefined : textOf(path, value);
  };
  const most = isWhole ? Number.POSITIVE_INFINITY : LONG;
  const [oldText, youngText] = cutAround(text(before, old), text(after, young), most);

  return (
    <li className="flex flex-wrap items-baseline gap-x-2 gap-y-0.5 text-xs">
      {path !== '' && <FieldName path={path} />}
      {!isNew && (
        <>
          <Side text={oldText} side="before" />
          <Becomes />
        </>
      )}
      <Side text={youngText} side="after" />
    </li>
  );
}

/** The readable name of a recorded field. A path inside its value stays as it is in the JSON. */
function FieldName({ path }: { path: string }) {
  const end = path.search(/[.[]/);
  const name = end === -1 ? path : path.slice(0, end);
  const label = Object.hasOwn(fieldNames, name) ? fieldNames[name] : undefined;
  if (label === undefined) return <span className="font-mono wrap-anywhere text-ink-3">{path}</span>;
  return (
    <span className="wrap-anywhere text-ink-3">
      {label}
      {end !== -1 && <span className="font-mono">{path.slice(end)}</span>}
    </span>
  );
}

const STYLES = {
  before: "bg-danger-soft text-danger before:select-none before:content-['−_']",
  after: "bg-good-soft text-good before:select-none before:content-['+_']",
} as const;

/** The fields that hold a time. */
const TIMES: ReadonlySet<string> = new Set(['dueAt', 'expiresAt']);

/** The fields that hold words, which are shown without quotes. */
const WORDS: ReadonlySet<string> = new Set([
  'description',
  'owner',
  'name',
  'lastFour',
  'color',
  'role',
  'only',
  'kind',
  'note',
  'reason',
]);

/** A recorded field as people write it; the value of a flag, and anything else, as JSON. */
function textOf(path: string, value: Json): string {
  // Entries of older versions have the expiry as a number.
  if (TIMES.has(path) && (typeof value === 'string' || typeof value === 'number'))
    return fullTime(new Date(value));
  if (path === 'enabled') return value === true ? messages.on : messages.off;
  if (path === 'value' || path.startsWith('value.') || path.startsWith('value['))
    return JSON.stringify(value);
  if (typeof value === 'boolean') return value ? messages.yes : messages.no;
  if (WORDS.has(path) && typeof value === 'string' && value !== '') return value;
  const isList = Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === 'string');
  return isList ? value.join(', ') : JSON.stringify(value);
}

/** Who gets a state: a state without a percentage is for everyone. */
function rolloutText(share: Json | undefined, state: Json): string {
  const text = typeof share === 'number' ? words.percent(share) : words.everyone;
  return membersOf(state).enabled === false ? words.whenOn(text) : text;
}

function Side({ text, side }: { text: string | undefined; side: keyof typeof STYLES }) {
  if (text === undefined) return <span className="text-ink-3 italic">{messages.nothing}</span>;
  const Tag = side === 'before' ? 'del' : 'ins';
  return (
    <Tag
      className={`max-w-full rounded px-1 py-px font-mono wrap-anywhere whitespace-pre-wrap no-underline ${STYLES[side]}`}
    >
      {text}
    </Tag>
  );
}

function isLong(value: Json | undefined): boolean {
  return value !== undefined && JSON.stringify(value).length > LONG;
}
