import type { LucideIcon } from 'lucide-react';
import Plus from 'lucide-react/icons/plus';
import type { ComponentProps } from 'react';
import { classNames } from './class-names.ts';

/** The visual weight of a button. */
type ButtonKind = 'primary' | 'plain' | 'quiet' | 'danger';

const KINDS: Readonly<Record<ButtonKind, string>> = {
  primary: 'bg-accent text-accent-ink border-transparent hover:bg-accent-hover',
  plain: 'bg-surface text-ink border-line hover:bg-hover',
  quiet: 'bg-transparent text-ink-2 border-transparent hover:bg-hover hover:text-ink',
  danger: 'bg-danger text-surface border-transparent hover:bg-danger-hover',
};

/** A button, of type `button` by default. */
export function Button({
  kind = 'plain',
  className,
  ...rest
}: ComponentProps<'button'> & { kind?: ButtonKind }) {
  return (
    <button
      type="button"
      className={classNames(
        'target inline-flex h-8 shrink-0 items-center justify-center gap-1.5 rounded-md border px-3 font-medium whitespace-nowrap transition-colors',
        'disabled:opacity-55 disabled:pointer-events-none',
        KINDS[kind],
        className,
      )}
      {...rest}
    />
  );
}

/** The main button of a screen that lists things: creates another one. */
export function CreateButton({
  icon: Icon = Plus,
  children,
  ...rest
}: Omit<ComponentProps<'button'>, 'className'> & { icon?: LucideIcon | undefined }) {
  return (
    <Button kind="primary" {...rest}>
      <Icon size={15} aria-hidden /> {children}
    </Button>
  );
}

/** A square button with only an icon; `label` is its accessible name. */
export function IconButton({
  label,
  icon: Icon,
  iconSize = 14,
  iconClassName,
  className,
  ...rest
}: Omit<ComponentProps<'button'>, 'aria-label' | 'children'> & {
  label: string;
  icon: LucideIcon;
  /** In pixels. */
  iconSize?: number;
  iconClassName?: string | undefined;
}) {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      className={classNames(
        'target inline-flex size-7 shrink-0 items-center justify-center rounded-md text-ink-3 transition-colors hover:bg-hover hover:text-ink disabled:opacity-55',
        className,
      )}
      {...rest}
    >
      <Icon size={iconSize} className={iconClassName} aria-hidden />
    </button>
  );
}
