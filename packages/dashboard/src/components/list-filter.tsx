import Search from 'lucide-react/icons/search';
import { useRef } from 'react';
import { useSearchState } from '../browser/use-search-state.ts';
import { useShortcut } from '../browser/use-shortcut.ts';
import { Button } from './button.tsx';
import { classNames } from './class-names.ts';
import { INPUT } from './field.tsx';
import { messages } from './messages.ts';
import { Select } from './select.tsx';

/** A list this short needs no filter. */
const WORTH_FILTERING = 6;

/** Finds records by text (`q` in the address) and status (`status`). Shows how many match. */
export function ListFilter({
  label,
  statuses,
  shown,
  total,
}: {
  /** The label, such as "Find a key". */
  label: string;
  statuses: readonly string[];
  shown: number;
  total: number;
}) {
  const [search, setSearch] = useSearchState();
  const [query, status] = [search.get('q') ?? '', search.get('status') ?? ''];
  const isFiltered = query !== '' || status !== '';
  if (total < WORTH_FILTERING && !isFiltered) return null;

  return (
    <search className="mb-3 flex flex-wrap items-center gap-2">
      <SearchField
        label={label}
        className="max-w-80 flex-1 basis-56"
        value={query}
        onChange={(text) => setSearch({ q: text })}
      />
      <Select
        label="Status"
        className="max-w-40"
        value={status}
        onSelect={(next) => setSearch({ status: next })}
        none={messages.anyStatus}
        choices={statuses.map((each) => [each, `${each[0]?.toUpperCase()}${each.slice(1)}`])}
      />
      {isFiltered && (
        <>
          <span role="status" className="text-ink-2">
            {shown === 0 ? messages.noResults : `${shown} of ${total}`}
          </span>
          <Button kind="quiet" onClick={() => setSearch({ q: '', status: '' })}>
            Clear
          </Button>
        </>
      )}
    </search>
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
