import ChevronDown from 'lucide-react/icons/chevron-down';
import { type ReactNode, useId, useRef, useState } from 'react';
import { Button } from './button.tsx';
import { classNames } from './class-names.ts';
import { INPUT } from './field.tsx';
import { messages } from './messages.ts';
import { Popover } from './popover.tsx';

/** A longer list has a search. */
const WORTH_SEARCHING = 8;

/** An option of a {@link MultiSelect}. */
export interface Option {
  readonly value: string;
  /** Default: the value. */
  readonly label?: ReactNode;
}

/** The list of a {@link MultiSelect}. */
interface OptionListProps {
  /** Names the button and the list. */
  readonly label: string;
  readonly options: readonly Option[];
  readonly selected: readonly string[];
  readonly onChange: (selected: readonly string[]) => void;
  /** The button at the end of the list. Default: selects nothing. */
  readonly clear?: { readonly label: string; readonly isPossible: boolean; readonly run: () => void };
  /** Shown at the end of each option, such as a second control. */
  readonly extra?: (value: string) => ReactNode;
}

/** Selects any number of options from a list behind a button. The list has a search if it is long. */
export function MultiSelect({
  none,
  summary,
  isNamed = false,
  className,
  align,
  ...list
}: OptionListProps & {
  /** The text of the button while nothing is selected. */
  none: ReactNode;
  /** The text of the button for a selection. Default: its values. */
  summary?: ReactNode;
  /** Whether the text of the button begins with its name already. */
  isNamed?: boolean;
  className?: string | undefined;
  align?: 'start' | 'end';
}) {
  const { label, selected } = list;
  const id = useId();
  const anchor = useRef<HTMLButtonElement>(null);
  const [isOpen, setOpen] = useState(false);
  const isFiltering = selected.length > 0;

  return (
    <>
      <button
        ref={anchor}
        type="button"
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        className={classNames(
          'target inline-flex h-8 max-w-56 min-w-0 shrink-0 items-center gap-1.5 rounded-md border px-2.5',
          isFiltering
            ? 'border-accent bg-accent-soft text-ink'
            : 'border-line-strong bg-surface text-ink-2 hover:bg-hover hover:text-ink',
          className,
        )}
        onClick={() => setOpen(!isOpen)}
      >
        {!isNamed && <span className="sr-only">{label}:</span>}
        <span className="truncate">{isFiltering ? (summary ?? selected.join(', ')) : none}</span>
        <ChevronDown size={13} className="shrink-0 text-ink-3" aria-hidden />
      </button>

      {isOpen && (
        <Popover anchor={anchor} align={align} onClose={() => setOpen(false)}>
          <OptionList id={id} {...list} />
        </Popover>
      )}
    </>
  );
}

/** The options as checkboxes, with a search above a long list. The first control takes the focus. */
function OptionList({
  id,
  label,
  options,
  selected,
  onChange,
  clear = { label: messages.clearSelection, isPossible: selected.length > 0, run: () => onChange([]) },
  extra,
}: OptionListProps & { id: string }) {
  const [query, setQuery] = useState('');
  const isLong = options.length > WORTH_SEARCHING;
  const shown = options.filter(({ value }) => value.toLowerCase().includes(query.trim().toLowerCase()));

  return (
    <fieldset id={id}>
      <legend className="sr-only">{label}</legend>
      {isLong && (
        <div className="sticky -top-1 z-20 -m-1 mb-1 border-b border-line bg-raised p-1.5">
          <input
            data-autofocus
            type="search"
            aria-label={messages.findOption}
            placeholder={messages.findOption}
            className={INPUT}
            value={query}
            onChange={(event) => setQuery(event.target.value)}
          />
        </div>
      )}

      {shown.map(({ value, label: text = value }, index) => (
        <div key={value} className="flex items-center rounded hover:bg-hover">
          <label className="flex min-h-8 pointer-coarse:min-h-10 min-w-0 flex-1 items-center gap-2.5 px-2">
            <input
              data-autofocus={!isLong && index === 0 ? true : undefined}
              type="checkbox"
              checked={selected.includes(value)}
              onChange={({ target }) =>
                onChange(target.checked ? [...selected, value] : selected.filter((each) => each !== value))
              }
            />
            <span className="min-w-0 truncate">{text}</span>
          </label>
          {extra?.(value)}
        </div>
      ))}

      {shown.length === 0 && <p className="px-2 py-3 text-center text-ink-3">{messages.noResults}</p>}
      {clear.isPossible && (
        <div className="sticky -bottom-1 -m-1 mt-1 border-t border-line bg-raised p-1">
          <Button kind="quiet" className="w-full" onClick={clear.run}>
            {clear.label}
          </Button>
        </div>
      )}
    </fieldset>
  );
}
