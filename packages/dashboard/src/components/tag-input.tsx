import X from 'lucide-react/icons/x';
import { type ComponentProps, type KeyboardEvent, useRef, useState } from 'react';
import { classNames } from './class-names.ts';
import { Combobox } from './combobox.tsx';
import { CONTROL, Field, type FieldTexts } from './field.tsx';
import { messages } from './messages.ts';

/** Tags, and those to suggest. */
interface TagProps {
  readonly tags: readonly string[];
  readonly known: readonly string[];
  /** Of chips that are no tags. */
  readonly words?: {
    readonly known: string;
    readonly placeholder: string;
    readonly remove: (tag: string) => string;
  };
  readonly onChange: (tags: readonly string[]) => void;
}

/**
 * Tags as chips, with suggestions: Enter or a comma adds one, Backspace in the empty field removes the last. Other
 * attributes go to the `<input>`.
 */
export function TagInput({
  tags,
  known,
  words = messages.tags,
  onChange,
  ...control
}: TagProps & Omit<ComponentProps<'input'>, 'onChange' | 'value' | 'list' | 'className'>) {
  const [text, setText] = useState('');
  const box = useRef<HTMLDivElement>(null);

  function add(typed: string): void {
    setText('');
    const added = typed.split(',').map((tag) => tag.trim());
    onChange([...new Set([...tags, ...added.filter((tag) => tag !== '')])]);
  }

  function remove(tag: string): void {
    onChange(tags.filter((each) => each !== tag));
    box.current?.querySelector('input')?.focus();
  }

  function onKey(event: KeyboardEvent): void {
    if (event.key === 'Enter' && text.trim() !== '') {
      event.preventDefault();
      add(text);
    }
    const last = tags.at(-1);
    if (event.key === 'Backspace' && text === '' && last !== undefined) remove(last);
  }

  return (
    <div
      ref={box}
      className={classNames(
        CONTROL,
        'flex h-auto min-h-8 w-full flex-wrap items-center gap-1 px-1.5 py-0.5 has-[input:focus-visible]:outline-2 has-[input:focus-visible]:outline-offset-2 has-[input:focus-visible]:outline-accent',
      )}
    >
      {tags.map((tag) => (
        <Chip key={tag} tag={tag} removal={words.remove(tag)} onRemove={() => remove(tag)} />
      ))}
      <Combobox
        {...control}
        listLabel={words.known}
        suggestions={known.filter((tag) => !tags.includes(tag)).map((value) => ({ value }))}
        value={text}
        className="h-6 min-w-20 flex-1 bg-transparent px-1 outline-none"
        placeholder={tags.length === 0 ? words.placeholder : undefined}
        onChange={(typed) => (typed.includes(',') ? add(typed) : setText(typed))}
        onPick={add}
        onBlur={() => {
          if (text.trim() !== '') add(text);
        }}
        onKeyDown={onKey}
      />
    </div>
  );
}

/** A tag with the button that removes it. */
function Chip({ tag, removal, onRemove }: { tag: string; removal: string; onRemove: () => void }) {
  return (
    <span className="inline-flex h-6 max-w-full items-center rounded bg-hover pl-1.5 text-xs text-ink-2">
      <span className="truncate">{tag}</span>
      <button
        type="button"
        aria-label={removal}
        className="inline-flex size-6 shrink-0 items-center justify-center rounded text-ink-3 hover:text-ink"
        onClick={onRemove}
      >
        <X size={12} aria-hidden />
      </button>
    </span>
  );
}

/** A {@link TagInput} below its label. */
export function TagField({ label, hint, error, ...rest }: TagProps & FieldTexts) {
  return (
    <Field label={label} hint={hint} error={error}>
      {({ className: _, ...control }) => <TagInput {...control} {...rest} />}
    </Field>
  );
}
