import Search from 'lucide-react/icons/search';
import SlidersHorizontal from 'lucide-react/icons/sliders-horizontal';
import { type ComponentProps, type ReactNode, useRef, useState } from 'react';
import { useSearchState } from '../browser/use-search-state.ts';
import { useShortcut } from '../browser/use-shortcut.ts';
import { Button, IconButton } from './button.tsx';
import { classNames } from './class-names.ts';
import { INPUT } from './field.tsx';
import { messages } from './messages.ts';
import { Select } from './select.tsx';

/** A list this short needs no filter. */
const WORTH_FILTERING = 6;

/** Finds records by text (`q` in the address) and by one of their members (`select.name`). Shows how many match. */
export function ListFilter({
  label,
  select: { name, ...select },
  shown,
  total,
}: {
  /** The label, such as "Find a key". */
  label: string;
  /** Hidden without choices. */
  select: Omit<ComponentProps<typeof Select>, 'value' | 'onSelect'> & { name: string };
  shown: number;
  total: number;
}) {
  const [search, setSearch] = useSearchState();
  const [query, selected] = [search.get('q') ?? '', search.get(name) ?? ''];
  const isFiltered = query !== '' || selected !== '';
  if (total < WORTH_FILTERING && !isFiltered) return null;

  return (
    <search className="mb-3 flex flex-wrap items-center gap-2">
      <SearchField
        label={label}
        className="max-w-80 flex-1 basis-56 max-sm:max-w-none"
        value={query}
        onChange={(text) => setSearch({ q: text })}
      />
      {select.choices.length > 0 && (
        <Select {...select} value={selected} onSelect={(next) => setSearch({ [name]: next })} />
      )}

      {isFiltered && (
        <>
          <span role="status" className="text-ink-2">
            {shown === 0 ? messages.noResults : messages.found(shown, total)}
          </span>
          <Button kind="quiet" onClick={() => setSearch({ q: '', [name]: '' })}>
            {messages.clear}
          </Button>
        </>
      )}
    </search>
  );
}

/** Returns a function that says whether a text has all words of the search above the list. */
export function useListSearch(): (text: string) => boolean {
  const [search] = useSearchState();
  const words = (search.get('q') ?? '').toLowerCase().split(/\s+/);
  return (text) => words.every((word) => text.toLowerCase().includes(word));
}

/**
 * Filters beside a search. On a narrow screen a button opens them below it, and shows whether one of them is set (`isSet`): they hide
 * rows, also while they are closed. `startsOpen`: they are open at once.
 */
export function FoldedFilters({
  startsOpen = false,
  isSet,
  children,
}: {
  startsOpen?: boolean;
  isSet: boolean;
  children: ReactNode;
}) {
  const [isOpen, setOpen] = useState(startsOpen);

  return (
    <>
      <IconButton
        icon={SlidersHorizontal}
        label={isSet ? messages.filtersSet : messages.filters}
        className={classNames(
          'size-8 border md:hidden',
          isSet ? 'border-accent bg-accent-soft' : 'border-line',
        )}
        iconClassName={isSet ? 'text-accent' : undefined}
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      />

      <div
        className={classNames(
          'flex flex-wrap items-center gap-2 max-md:basis-full md:flex-1',
          !isOpen && 'max-md:hidden',
        )}
      >
        {children}
      </div>
    </>
  );
}

/** A field that filters the list below it; `/` focuses it, Escape clears it. */
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
  useShortcut('/', () => ref.current?.select());

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
