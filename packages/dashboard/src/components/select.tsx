import type { ComponentProps, ReactNode } from 'react';
import type { EnvironmentRecord } from '../api/types.ts';
import { classNames } from './class-names.ts';
import { CONTROL, Field } from './field.tsx';

/** A value and its label, or one text for both. */
type Choice = string | readonly [value: string, label: string];

/** The options of a select; other attributes go to the element. */
interface SelectProps
  extends Omit<ComponentProps<'select'>, 'aria-label' | 'onSelect' | 'onChange' | 'children'> {
  readonly value: string;
  readonly onSelect: (value: string) => void;
  readonly choices: readonly (Choice | { readonly group: string; readonly choices: readonly Choice[] })[];
  /** The label of the empty value, such as "Any environment". */
  readonly none?: string;
}

/** A native select without its label. */
export function NativeSelect({ choices, none, onSelect, ...rest }: SelectProps) {
  return (
    <select {...rest} onChange={(event) => onSelect(event.target.value)}>
      {none !== undefined && <option value="">{none}</option>}
      {choices.map((each) =>
        typeof each === 'object' && 'group' in each ? (
          <optgroup key={each.group} label={each.group}>
            {each.choices.map(optionOf)}
          </optgroup>
        ) : (
          optionOf(each)
        ),
      )}
    </select>
  );
}

function optionOf(choice: Choice) {
  const [value, label] = typeof choice === 'string' ? [choice, choice] : choice;
  return (
    <option key={value} value={value}>
      {label}
    </option>
  );
}

/** A native select with a label for screen readers. One of kind `filter` shows whether anything is selected. */
export function Select({
  label,
  kind = 'field',
  className,
  ...rest
}: SelectProps & { label: string; kind?: 'field' | 'filter' }) {
  return (
    <NativeSelect
      aria-label={label}
      title={kind === 'filter' ? label : undefined}
      className={classNames(
        kind === 'field'
          ? CONTROL
          : classNames(
              'h-8 max-w-56 min-w-0 rounded-md border px-2.5 [field-sizing:content]',
              rest.value !== ''
                ? 'border-accent bg-accent-soft text-ink'
                : 'border-line-strong bg-surface text-ink-2 hover:bg-hover hover:text-ink',
            ),
        className,
      )}
      {...rest}
    />
  );
}

/** A select below its label. */
export function SelectField({
  label,
  className,
  ...rest
}: SelectProps & { label: ReactNode; 'data-autofocus'?: boolean }) {
  return (
    <Field label={label}>
      {(control) => (
        <NativeSelect {...control} {...rest} className={classNames(control.className, className)} />
      )}
    </Field>
  );
}

/** Selects one environment by name, with `label` before it. */
export function EnvironmentSelect({
  label,
  environments,
  chosen,
  onChoose,
}: {
  label: string;
  environments: readonly EnvironmentRecord[];
  chosen: EnvironmentRecord;
  onChoose: (name: string) => void;
}) {
  return (
    <span className="flex items-center gap-2">
      <span aria-hidden className="text-ink-2">
        {label}
      </span>
      <Select
        label={label}
        value={chosen.name}
        onSelect={onChoose}
        className="max-w-44"
        choices={environments.map(({ name }) => name)}
      />
    </span>
  );
}
