import type { AuditEntryRecord, Json } from '../../api/types.ts';
import { localTime } from '../time-ago.tsx';
import { actionText, membersOf } from './action-text.ts';
import { diffFields } from './diff-fields.ts';
import { fieldNames, VALUE_KINDS, words } from './messages.ts';

/** What a change did to one thing: `rollout`, `25 %`, `50 %`. A side is absent if there is nothing to compare with. */
export interface Detail {
  readonly label: string;
  readonly before?: string;
  readonly after?: string;
}

/** An entry on one line: the verb before its target, and the details after it. */
export interface ChangeWords {
  readonly verb: string;
  readonly details: readonly Detail[];
}

/** Longer values are described instead of shown. */
const LONG = 36;
/** Changes of more fields are only shown in full. */
const MOST_FIELDS = 3;

/** Names an actor, such as `operator:ada@example.com`. */
export type NameOf = (actor: string) => { readonly name: string };

/** The words of an entry, such as "turned on" with "rollout 25 % → 50 %". */
export function changeWords(
  entry: Pick<AuditEntryRecord, 'action' | 'actor' | 'before' | 'after'>,
  nameOf: NameOf,
): ChangeWords {
  const { action, before, after } = entry;
  const verb = actionText(action, entry);
  if (action === 'flag.changed') return stateWords(verb, before, after);
  if (action.startsWith('rollout.')) return { verb, details: planDetails(entry, nameOf) };
  if (before === undefined || after === undefined) return { verb, details: [] };
  if (action === 'flag.updated') return textWords(verb, { before, after, nameOf });
  return { verb, details: fieldDetails(before, after) };
}

/** What several changes of one state did together, from the state before the first to the one after the last. */
export function netDetails(before: Json | undefined, after: Json | undefined): readonly Detail[] {
  if (before === undefined || after === undefined) return stateWords('', before, after).details;
  const [old, young] = [membersOf(before).enabled, membersOf(after).enabled];
  const flip = old === young ? [] : [{ label: words.state, before: onOff(old), after: onOff(young) }];
  return [...flip, ...stateDetails(before, after)];
}

function stateWords(verb: string, before: Json | undefined, after: Json | undefined): ChangeWords {
  if (after === undefined) return { verb, details: [] };
  const { enabled } = membersOf(after);
  if (before === undefined) return { verb, details: [{ label: onOff(enabled) }, ...stateDetails({}, after)] };
  const details = stateDetails(before, after);
  if (membersOf(before).enabled !== enabled)
    return { verb: enabled === true ? words.turnedOn : words.turnedOff, details };
  return { verb, details: details.length === 0 ? [{ label: words.formattingOnly }] : details };
}

function onOff(enabled: Json | undefined): string {
  return enabled === true ? words.on : words.off;
}

/** The differences of two states in rollout and value. */
function stateDetails(before: Json, after: Json): readonly Detail[] {
  const [old, young] = [membersOf(before), membersOf(after)];
  const share = (pct: Json | undefined) => (typeof pct === 'number' ? words.percent(pct) : words.everyone);
  const label = words.rollout;
  const becomes = young.enabled === false ? words.whenOn(share(young.rolloutPct)) : share(young.rolloutPct);
  const rollout =
    old.rolloutPct === young.rolloutPct
      ? []
      : Object.keys(old).length === 0
        ? [{ label, after: becomes }]
        : [{ label, before: share(old.rolloutPct), after: becomes }];
  return [...rollout, ...valueDetails(old.value, young.value)];
}

function valueDetails(before: Json | undefined, after: Json | undefined): readonly Detail[] {
  const label = words.value;
  if (JSON.stringify(before) === JSON.stringify(after)) return [];
  const [old, young] = [preview(before), preview(after)];
  if (after === undefined) return [{ label: `${label} ${words.removed}` }];
  if (before === undefined) return [young === undefined ? { label } : { label, after: young }];
  if (old !== undefined && young !== undefined) return [{ label, before: old, after: young }];
  const fields = diffFields({ value: before }, { value: after });
  const [only] = fields;
  if (fields.length > 1) return [{ label: `${label}: ${words.fields(fields.length)}` }];
  if (only === undefined || only.path === 'value') return [{ label: `${label} ${words.replaced}` }];
  return [shown(only.path, preview(only.before) ?? '…', preview(only.after) ?? '…')];
}

/** A value on one line; `undefined` if it is missing or too long for one. */
function preview(value: Json | undefined): string | undefined {
  const text = value === undefined ? '' : JSON.stringify(value);
  return text === '' || text.length > LONG ? undefined : text;
}

function shown(label: string, before: string, after: string): Detail {
  return { label, before, after };
}

interface Texts {
  readonly before: Json;
  readonly after: Json;
  readonly nameOf: NameOf;
}

/** The words for edited texts of a flag. */
function textWords(verb: string, { before, after, nameOf }: Texts): ChangeWords {
  const [old, young] = [membersOf(before), membersOf(after)];
  const names = (['description', 'tags', 'owner', 'permanent', 'valueKind', 'namedValues'] as const).filter(
    (name) => JSON.stringify(old[name]) !== JSON.stringify(young[name]),
  );
  const owner = (value: Json | undefined) =>
    typeof value === 'string' && value !== '' ? nameOf(`operator:${value}`).name : words.none;
  const details = names.flatMap((name): readonly Detail[] => {
    if (name === 'tags') return tagDetails(old.tags, young.tags);
    if (name === 'namedValues') return tagDetails(namesOf(old.namedValues), namesOf(young.namedValues));
    if (name === 'valueKind') return [shown(labelOf(name), kindOf(old.valueKind), kindOf(young.valueKind))];
    return name === 'owner' ? [shown(labelOf(name), owner(old.owner), owner(young.owner))] : [];
  });
  const [only] = names;
  if (names.length !== 1 || only === undefined) return { verb, details };
  if (only === 'permanent') return { verb: words.markedPermanent(young.permanent === true), details };
  return { verb: words.editedField[only], details };
}

function kindOf(kind: Json | undefined): string {
  return VALUE_KINDS.find(([each]) => each === kind)?.[1] ?? words.none;
}

/** The names among named values; entries of older versions have none. */
function namesOf(values: Json | undefined): readonly Json[] {
  return Array.isArray(values) ? values.map((each: Json) => membersOf(each).name ?? '') : [];
}

function tagDetails(before: Json | undefined, after: Json | undefined): readonly Detail[] {
  const listOf = (tags: Json | undefined) => (Array.isArray(tags) ? tags.map(String) : []);
  const [old, young] = [listOf(before), listOf(after)];
  const added = young.filter((tag) => !old.includes(tag)).map((tag) => `+${tag}`);
  const removed = old.filter((tag) => !young.includes(tag)).map((tag) => `−${tag}`);
  // Only the values of the names, or their order.
  if (added.length + removed.length === 0) return [];
  return [{ label: [...added, ...removed].join(' ') }];
}

/** What a rollout plan did: its steps when it starts, the step that ran, or why it was interrupted. */
function planDetails(
  { actor, after }: Pick<AuditEntryRecord, 'actor' | 'after'>,
  nameOf: NameOf,
): readonly Detail[] {
  const { steps, step, of, from, to, startedBy, reason } = membersOf(after);
  if (typeof reason === 'string') return [{ label: reason }];
  if (Array.isArray(steps)) {
    const shares = steps.map((each: Json) => membersOf(each).rolloutPct);
    return [{ label: words.percent(shares.join(', ')) }];
  }
  if (typeof step !== 'number' || typeof of !== 'number') return [];
  const place = words.stepOfPlan(step, of);
  if (typeof from !== 'number' || typeof to !== 'number') return [{ label: place }];
  const rollout = shown(words.rollout, words.percent(from), words.percent(to));
  const isTheirs = typeof startedBy === 'string' && startedBy !== actor;
  return [rollout, { label: isTheirs ? words.stepBy(place, nameOf(startedBy).name) : place }];
}

/** The differing fields of any other record, if they are few and short. */
function fieldDetails(before: Json, after: Json): readonly Detail[] {
  const fields = diffFields(before, after);
  if (fields.length > MOST_FIELDS) return [];
  return fields.flatMap(({ path, before, after }) => {
    // Settings that have their default are left out: one that differs from a yes is a no.
    const [old, young] = [plain(before ?? oppositeOf(after)), plain(after ?? oppositeOf(before))];
    const isField = Object.hasOwn(fieldNames, path);
    return isField && old !== undefined && young !== undefined ? [shown(labelOf(path), old, young)] : [];
  });
}

function oppositeOf(value: Json | undefined): boolean | undefined {
  return typeof value === 'boolean' ? !value : undefined;
}

function labelOf(field: string): string {
  return (fieldNames[field] ?? field).toLowerCase();
}

/** A time, as the server writes it. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

function plain(value: Json | undefined): string | undefined {
  if (typeof value === 'boolean') return value ? words.yes : words.no;
  if (value === undefined || value === '') return words.none;
  if (typeof value === 'string' && TIME.test(value)) return localTime(new Date(value));
  if (typeof value === 'string' && value.length <= LONG) return value;
  return typeof value === 'number' ? String(value) : undefined;
}
