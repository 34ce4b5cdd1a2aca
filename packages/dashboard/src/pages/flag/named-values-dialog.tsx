import { withoutSpace } from '@halyard/protocol';
import Plus from 'lucide-react/icons/plus';
import Trash from 'lucide-react/icons/trash-2';
import { useId, useRef, useState } from 'react';
import { isRefusal } from '../../api/api-error.ts';
import { changeNamedValues, type NamedValue } from '../../api/named-values.ts';
import { queryKeys } from '../../api/query-cache.ts';
import type { FlagRecord } from '../../api/types.ts';
import { Button, IconButton } from '../../components/button.tsx';
import { classNames } from '../../components/class-names.ts';
import { INPUT } from '../../components/field.tsx';
import { FormDialog, useForm } from '../../components/form.tsx';
import { announce } from '../../components/live-region.tsx';
import { findJsonProblem, kindOfJson } from './json-text.ts';
import { messages } from './messages.tsx';

const words = messages.namedValues;

interface Row extends NamedValue {
  readonly id: number;
  /** Whether it was added here. */
  readonly isNew?: boolean;
}

/**
 * Edits the named values of a flag. Saving changes no state: the dialog says which states keep an older value. It replaces the
 * whole list, so it is refused once the list is not the one that the dialog opened with.
 */
export function NamedValuesDialog({
  project,
  flag,
  values,
  onClose,
}: {
  project: string;
  flag: FlagRecord;
  /** As they are now. */
  values: readonly NamedValue[];
  onClose: () => void;
}) {
  const { key, valueKind } = flag;
  const [opened] = useState(values);
  const [rows, setRows] = useState<readonly Row[]>(() =>
    (values.length === 0 ? [EMPTY] : values).map((value, id) => ({ ...value, id })),
  );
  const problems = rows.map((row, index) => problemOf(row, rows.slice(0, index), valueKind));
  const kept = keptValues(flag, values, rows);
  const adding = useRef<HTMLButtonElement>(null);

  const form = useForm<string>({
    problems: Object.fromEntries(rows.map(({ id }, index) => [`${id}`, problems[index]?.text])),
    submit: async () => {
      if (comparable(values) !== comparable(opened)) throw new Error(words.changedMeanwhile);

      const next = rows.map((row) => ({ ...row, text: withoutSpace(row.text.trim()) }));
      try {
        await changeNamedValues(project, flag, next);
      } catch (error) {
        // The page has not learned of it yet.
        throw isRefusal(error, 'revision_conflict') ? new Error(words.changedMeanwhile) : error;
      }
      announce(words.saved);
      onClose();
    },
    stale: [queryKeys.flag(project, key), queryKeys.flags(project)],
  });
  const edit = (id: number, change: Partial<NamedValue>) =>
    setRows(rows.map((row) => (row.id === id ? { ...row, ...change } : row)));

  return (
    <FormDialog
      title={words.title(key)}
      form={form}
      action={words.save}
      className="w-[min(52rem,calc(100vw-2rem))]"
      onClose={onClose}
    >
      <p className="text-ink-2">{words.explanation}</p>

      <ul className="flex flex-col gap-3">
        {rows.map((row, index) => (
          <ValueRow
            key={row.id}
            row={row}
            isText={valueKind === 'text'}
            problem={form.isTried ? problems[index] : undefined}
            onEdit={(change) => edit(row.id, change)}
            onRemove={(line) => {
              // The focus would be lost with the row.
              const next = line?.nextElementSibling?.querySelector('input') ?? adding.current;
              next?.focus();
              setRows(rows.filter(({ id }) => id !== row.id));
            }}
          />
        ))}
      </ul>

      <div>
        <Button
          ref={adding}
          onClick={() =>
            setRows([...rows, { ...EMPTY, id: 1 + Math.max(-1, ...rows.map(({ id }) => id)), isNew: true }])
          }
        >
          <Plus size={14} aria-hidden />
          {words.add}
        </Button>
      </div>
      {kept.length > 0 && (
        <ul aria-live="polite" className="rounded-md bg-warn-soft px-3 py-2 text-warn">
          {kept.map(({ environment, name }) => (
            <li key={environment}>{words.keeps(environment, name)}</li>
          ))}
        </ul>
      )}
    </FormDialog>
  );
}

const EMPTY: NamedValue = { name: '', text: '', description: '' };

const takeFocus = (field: HTMLInputElement | null) => field?.focus();

function ValueRow({
  row: { name, text, description, isNew },
  isText,
  problem,
  onEdit,
  onRemove,
}: {
  row: Row;
  /** The flag's values are texts: people write them without quotes. */
  isText: boolean;
  problem: Problem | undefined;
  onEdit: (change: Partial<NamedValue>) => void;
  /** Gets the element of the row. */
  onRemove: (line: Element | null) => void;
}) {
  const isPlain = isText && (text === '' || kindOfJson(text) === 'string');
  const label = name === '' ? words.newValue : name;
  const id = useId();
  const wrong = { 'aria-invalid': true, 'aria-describedby': id } as const;

  return (
    <li className="flex flex-col gap-1">
      <div className="grid grid-cols-[minmax(0,1fr)_auto] gap-1.5 sm:grid-cols-[10rem_minmax(0,1fr)_minmax(0,1fr)_auto]">
        <input
          aria-label={words.nameOf(label)}
          ref={isNew ? takeFocus : undefined}
          {...(problem?.control === 'name' ? wrong : {})}
          placeholder={words.name}
          maxLength={64}
          className={INPUT}
          value={name}
          onChange={(event) => onEdit({ name: event.target.value })}
        />

        <textarea
          aria-label={words.valueOf(label)}
          {...(problem?.control === 'value' ? wrong : {})}
          placeholder={isPlain ? words.text : words.json}
          rows={1}
          spellCheck={false}
          className={classNames(
            INPUT,
            'col-start-1 field-sizing-content h-auto max-h-40 min-h-8 resize-y py-1.5 sm:col-start-2',
            !isPlain && 'font-mono text-xs',
          )}
          value={isPlain && text !== '' ? String(JSON.parse(text)) : text}
          onChange={({ target }) =>
            onEdit({ text: isPlain && target.value !== '' ? JSON.stringify(target.value) : target.value })
          }
        />

        <input
          aria-label={words.descriptionOf(label)}
          placeholder={words.description}
          maxLength={200}
          className={classNames(INPUT, 'col-start-1 sm:col-start-3')}
          value={description}
          onChange={(event) => onEdit({ description: event.target.value })}
        />

        <IconButton
          icon={Trash}
          label={words.remove(label)}
          className="col-start-2 row-start-1 sm:col-start-4"
          onClick={({ currentTarget }) => onRemove(currentTarget.closest('li'))}
        />
      </div>

      {problem !== undefined && (
        <p id={id} className="text-xs text-danger">
          {problem.text}
        </p>
      )}
    </li>
  );
}

/** What is wrong with a row, and in which control. */
interface Problem {
  readonly control: 'name' | 'value';
  readonly text: string;
}

/** A list as text that says whether another is the same, however its numbers are written. */
function comparable(values: readonly NamedValue[]): string {
  return JSON.stringify(values.map(({ name, text, description }) => [name, JSON.parse(text), description]));
}

/** Why a row cannot be saved. */
function problemOf(
  { name, text }: Row,
  earlier: readonly Row[],
  kind: FlagRecord['valueKind'],
): Problem | undefined {
  const inName = (problem: string) => ({ control: 'name', text: problem }) as const;
  const inValue = (problem: string) => ({ control: 'value', text: problem }) as const;

  if (name.trim() === '' || name.trim() !== name) return inName(words.noName);
  if (earlier.some((each) => each.name === name)) return inName(words.sameName);

  const problem = text.trim() === '' ? words.noJson : findJsonProblem(text)?.message;
  if (problem !== undefined) return inValue(problem);

  const same = earlier.find((each) => withoutSpace(each.text.trim()) === withoutSpace(text.trim()));
  if (same !== undefined) return inValue(words.sameValue(same.name));

  const wanted = { text: 'string', number: 'number', any: undefined, json: undefined, none: undefined }[kind];
  return wanted === undefined || kindOfJson(text) === wanted ? undefined : inValue(words.otherKind(wanted));
}

/** The states whose value would lose its name. */
function keptValues(
  flag: FlagRecord,
  values: readonly NamedValue[],
  rows: readonly Row[],
): readonly { readonly environment: string; readonly name: string }[] {
  const texts = rows.map(({ text }) => withoutSpace(text.trim()));
  const left = values.flatMap(({ name, text }) => (texts.includes(text) ? [] : [name]));

  return Object.entries(flag.environments).flatMap(([environment, { valueName: name }]) =>
    name !== undefined && left.includes(name) ? [{ environment, name }] : [],
  );
}
