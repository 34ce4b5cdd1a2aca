import type { ComponentProps } from 'react';
import { classNames } from './class-names.ts';

/** A native slider whose track is filled up to the value. `label` is the accessible name; other attributes go to it. */
export function Slider({
  label,
  min,
  max,
  value,
  onChange,
  className,
  ...rest
}: Omit<ComponentProps<'input'>, 'type' | 'onChange' | 'aria-label'> & {
  label: string;
  min: number;
  max: number;
  value: number;
  onChange: (value: number) => void;
}) {
  return (
    <input
      {...rest}
      type="range"
      aria-label={label}
      min={min}
      max={max}
      value={value}
      className={classNames('h-6 min-w-0 cursor-pointer', className)}
      // React's `style` sets properties, which the page's policy allows; its types do not know custom ones.
      style={{ '--fill': `${((value - min) / (max - min)) * 100}%` } as object}
      onChange={(event) => onChange(Number(event.target.value))}
    />
  );
}
