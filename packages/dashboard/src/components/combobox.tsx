import { type ComponentProps, type KeyboardEvent, type ReactNode, useId, useRef, useState } from 'react';
import { classNames } from './class-names.ts';
import { Popover } from './popover.tsx';

/** A suggestion of a {@link Combobox}. */
export interface Suggestion {
  readonly value: string;
  /** Default: the value. */
  readonly label?: string;
  /** Smaller text beside the label, such as an e-mail. */
  readonly detail?: string;
}

/** How many suggestions are shown at most. */
const MOST = 50;

/**
 * A text field with suggestions below it: the arrow keys select one, Enter takes it, Escape hides them. Any other text
 * can be typed too. Other attributes go to the `<input>`.
 */
export function Combobox({
  value,
  suggestions,
  listLabel,
  onChange,
  onPick,
  onKeyDown,
  className,
  ...rest
}: Omit<ComponentProps<'input'>, 'onChange' | 'value' | 'list'> & {
  value: string;
  /** All of them; those that contain what was typed are shown. */
  suggestions: readonly Suggestion[];
  /** Names the list, such as "Known tags". */
  listLabel: string;
  onChange: (text: string) => void;
  onPick: (value: string) => void;
}) {
  const id = useId();
  const anchor = useRef<HTMLInputElement>(null);
  const [isOpen, setOpen] = useState(false);
  const [active, setActive] = useState(-1);
  const shown = isOpen ? matching(suggestions, value) : [];
  const isShown = shown.length > 0;
  const current = shown[active];

  function close(): void {
    setOpen(false);
    setActive(-1);
  }

  function pick(suggestion: Suggestion): void {
    close();
    onPick(suggestion.value);
  }

  function onKey(event: KeyboardEvent<HTMLInputElement>): void {
    if (event.nativeEvent.isComposing) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      setOpen(true);
      const count = isShown ? shown.length : matching(suggestions, value).length;
      // One place more than there are suggestions: the typed text itself.
      setActive((before) => ((before + 1 + step + count + 1) % (count + 1)) - 1);
    } else if (event.key === 'Enter' && current !== undefined) {
      event.preventDefault();
      pick(current);
    } else if (event.key === 'Escape' && isShown) {
      event.preventDefault();
      event.stopPropagation();
      close();
    } else onKeyDown?.(event);
  }

  return (
    <>
      <input
        {...rest}
        ref={anchor}
        role="combobox"
        autoComplete="off"
        aria-autocomplete="list"
        aria-expanded={isShown}
        aria-controls={isShown ? id : undefined}
        aria-activedescendant={current === undefined ? undefined : `${id}-${active}`}
        className={className}
        value={value}
        onChange={(event) => {
          setOpen(true);
          setActive(-1);
          onChange(event.target.value);
        }}
        onClick={() => setOpen(true)}
        onKeyDown={onKey}
        onBlur={(event) => {
          close();
          rest.onBlur?.(event);
        }}
      />

      {isShown && (
        <Popover anchor={anchor} onClose={close}>
          <div id={id} role="listbox" aria-label={listLabel}>
            {shown.map((suggestion, index) => (
              <Option
                key={suggestion.value}
                id={`${id}-${index}`}
                isActive={index === active}
                onPick={() => pick(suggestion)}
              >
                <span className="min-w-0 flex-1 truncate">{suggestion.label ?? suggestion.value}</span>
                {suggestion.detail !== undefined && (
                  <span className="truncate text-xs text-ink-3">{suggestion.detail}</span>
                )}
              </Option>
            ))}
          </div>
        </Popover>
      )}
    </>
  );
}

function Option({
  id,
  isActive,
  onPick,
  children,
}: {
  id: string;
  isActive: boolean;
  onPick: () => void;
  children: ReactNode;
}) {
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the focus and the keys
    <div
      ref={(element) => {
        if (isActive) element?.scrollIntoView({ block: 'nearest' });
      }}
      id={id}
      role="option"
      tabIndex={-1}
      aria-selected={isActive}
      className={classNames(
        'flex min-h-7 pointer-coarse:min-h-10 max-w-[min(34rem,calc(100vw-2rem))] cursor-pointer items-center gap-3 rounded px-2 py-1',
        isActive ? 'bg-hover outline-2 -outline-offset-2 outline-accent' : 'hover:bg-hover',
      )}
      // The field keeps the focus.
      onPointerDown={(event) => event.preventDefault()}
      onClick={onPick}
    >
      {children}
    </div>
  );
}

function matching(suggestions: readonly Suggestion[], text: string): readonly Suggestion[] {
  const word = text.trim().toLowerCase();
  const rank = ({ value, label = value, detail = '' }: Suggestion) => {
    const at = `${label} ${detail} ${value}`.toLowerCase().indexOf(word);
    return at === -1 ? Number.POSITIVE_INFINITY : at === 0 ? 0 : 1;
  };
  return suggestions
    .filter((each) => rank(each) < Number.POSITIVE_INFINITY && each.value.toLowerCase() !== word)
    .sort((one, other) => rank(one) - rank(other))
    .slice(0, MOST);
}
