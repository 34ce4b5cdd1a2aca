import type { ComponentProps } from 'react';
import type { EnvironmentRecord } from '../api/types.ts';
import { classNames } from './class-names.ts';
import { CONTROL } from './field.tsx';

/** A native choice with a label that only screen readers hear; `label` says what is chosen. */
export function Select({
  label,
  className,
  ...rest
}: Omit<ComponentProps<'select'>, 'aria-label'> & { label: string }) {
  return <select aria-label={label} className={classNames(CONTROL, 'pr-1', className)} {...rest} />;
}

/** A native choice that filters; `label` says what is chosen. Marked while something is. */
export function FilterSelect({
  label,
  className,
  ...rest
}: Omit<ComponentProps<'select'>, 'aria-label'> & { label: string }) {
  const isSet = rest.value !== undefined && rest.value !== '';
  return (
    <select
      aria-label={label}
      title={label}
      className={classNames(
        'h-8 max-w-44 min-w-0 rounded-md border px-1.5 [field-sizing:content]',
        isSet
          ? 'border-accent bg-accent-soft text-ink'
          : 'border-transparent bg-bg text-ink-2 hover:bg-hover hover:text-ink',
        className,
      )}
      {...rest}
    />
  );
}

/** Chooses one environment by its name, with `label` before it. */
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
