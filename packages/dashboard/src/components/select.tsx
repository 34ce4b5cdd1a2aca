import type { ComponentProps } from 'react';
import type { EnvironmentRecord } from '../api/types.ts';
import { classNames } from './class-names.ts';
import { CONTROL } from './field.tsx';

/** A native select with a label for screen readers. One of kind `filter` shows whether anything is selected. */
export function Select({
  label,
  kind = 'field',
  className,
  ...rest
}: Omit<ComponentProps<'select'>, 'aria-label'> & { label: string; kind?: 'field' | 'filter' }) {
  const isSet = rest.value !== undefined && rest.value !== '';
  const filter = classNames(
    'h-8 max-w-44 min-w-0 rounded-md border px-1.5 [field-sizing:content]',
    isSet
      ? 'border-accent bg-accent-soft text-ink'
      : 'border-transparent bg-bg text-ink-2 hover:bg-hover hover:text-ink',
  );
  return (
    <select
      aria-label={label}
      title={kind === 'filter' ? label : undefined}
      className={classNames(kind === 'filter' ? filter : `${CONTROL} pr-1`, className)}
      {...rest}
    />
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
        onChange={(event) => onChoose(event.target.value)}
        className="max-w-44"
      >
        {environments.map(({ name }) => (
          <option key={name}>{name}</option>
        ))}
      </Select>
    </span>
  );
}
