import Search from 'lucide-react/icons/search';
import { useCallback, useRef } from 'react';
import { classNames } from './class-names.ts';
import { INPUT } from './field.tsx';
import { useShortcut } from './use-shortcut.ts';

/** A field that filters what is below it; `/` leads to it, Escape empties it. */
export function SearchField({
  label,
  value,
  onChange,
  className,
}: {
  label: string;
  value: string;
  onChange: (text: string) => void;
  className?: string;
}) {
  const ref = useRef<HTMLInputElement>(null);
  useShortcut(
    '/',
    useCallback(() => ref.current?.select(), []),
  );
  return (
    <span className={classNames('relative block min-w-0', className)}>
      <Search size={14} className="absolute top-2.25 left-2.5 text-ink-3" aria-hidden />
      <input
        ref={ref}
        type="search"
        aria-label={label}
        placeholder={label}
        className={classNames(INPUT, 'pl-8')}
        value={value}
        onChange={(event) => onChange(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape' && value !== '' && !event.nativeEvent.isComposing) {
            event.preventDefault();
            onChange('');
          }
        }}
      />
    </span>
  );
}
