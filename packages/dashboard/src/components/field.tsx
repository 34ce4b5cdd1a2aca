import { NAME_PATTERN } from '@halyard/protocol';
import { type ComponentProps, type ReactNode, useId } from 'react';
import { classNames } from './class-names.ts';
import { messages } from './messages.ts';

/** The classes of text fields and selects. */
export const CONTROL =
  'h-8 min-w-0 rounded-md border border-line-strong bg-surface px-2.5 text-ink aria-invalid:border-danger disabled:opacity-60';

/** The classes of a text field that fills its line. */
export const INPUT = `${CONTROL} w-full`;

/** The props of the control inside a field. */
interface FieldControl {
  readonly id: string;
  readonly className: string;
  readonly 'aria-describedby'?: string;
  readonly 'aria-invalid'?: true;
}

/** What stands around a control. */
export interface FieldTexts {
  readonly label: ReactNode;
  readonly hint?: ReactNode;
  /** Shown instead of the hint. */
  readonly error?: string | undefined;
}

/** A control with its label, and a hint or an error. Spread the argument of `children` onto the control. */
export function Field({
  label,
  hint,
  error,
  children,
}: FieldTexts & { children: (control: FieldControl) => ReactNode }) {
  const id = useId();
  const describedBy = error !== undefined || hint !== undefined ? `${id}-note` : undefined;

  return (
    <div>
      <label htmlFor={id} className="mb-1 block font-medium">
        {label}
      </label>
      {children({
        id,
        className: INPUT,
        ...(describedBy === undefined ? {} : { 'aria-describedby': describedBy }),
        ...(error === undefined ? {} : { 'aria-invalid': true }),
      })}
      {describedBy !== undefined && (
        <p
          id={describedBy}
          className={error === undefined ? 'mt-1 text-xs text-ink-3' : 'mt-1 text-xs text-danger'}
        >
          {error ?? hint}
        </p>
      )}
    </div>
  );
}

/** A line of text with its label. Other attributes go to the `<input>`; `className` adds to its classes. Browsers fill in nothing. */
export function TextField({
  label,
  hint,
  error,
  className,
  onChange,
  ...rest
}: Omit<ComponentProps<'input'>, 'onChange'> &
  FieldTexts & { value: string; onChange: (text: string) => void; 'data-autofocus'?: boolean }) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(control) => (
        <input
          {...control}
          autoComplete="off"
          {...rest}
          className={classNames(control.className, className)}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  );
}

/** A date without a visible label. */
export function DateInput({
  label,
  value,
  className,
  onChange,
  ...rest
}: Omit<ComponentProps<'input'>, 'type' | 'onChange' | 'aria-label'> & {
  label: string;
  value: string;
  onChange: (date: string) => void;
}) {
  return (
    <input
      {...rest}
      type="date"
      aria-label={label}
      className={classNames(CONTROL, className)}
      value={value}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}

/** A checkbox with its label, and a hint below it. */
export function CheckField({
  label,
  hint,
  isChecked,
  isDisabled = false,
  onChange,
}: {
  label: ReactNode;
  hint?: ReactNode;
  isChecked: boolean;
  isDisabled?: boolean;
  onChange: (isChecked: boolean) => void;
}) {
  return (
    <label className="flex min-h-6 items-start gap-2.5">
      <input
        type="checkbox"
        className="mt-0.5"
        checked={isChecked}
        disabled={isDisabled}
        onChange={(event) => onChange(event.target.checked)}
      />
      <span>
        {label}
        {hint !== undefined && <span className="block text-xs text-ink-3">{hint}</span>}
      </span>
    </label>
  );
}

/** A choice of one out of a few. `rows` puts each on its own line, `boxes` side by side. */
export function ChoiceField<Value extends string>({
  legend,
  hint,
  layout,
  isFocused = false,
  choices,
  selected,
  onSelect,
}: {
  legend: string;
  hint?: string | undefined;
  layout: keyof typeof CHOICE_LAYOUTS;
  /** The selected choice takes the focus when its dialog opens. */
  isFocused?: boolean;
  choices: readonly (readonly [value: Value, label: ReactNode])[];
  selected: Value;
  onSelect: (value: Value) => void;
}) {
  const name = useId();
  const { list, item } = CHOICE_LAYOUTS[layout];
  return (
    <fieldset>
      <legend className="mb-1 font-medium">{legend}</legend>
      <div className={list}>
        {choices.map(([value, label]) => (
          <label key={value} className={classNames('flex has-checked:bg-accent-soft', item)}>
            <input
              type="radio"
              name={name}
              checked={selected === value}
              data-autofocus={isFocused && selected === value ? true : undefined}
              onChange={() => onSelect(value)}
            />
            {label}
          </label>
        ))}
      </div>
      {hint !== undefined && <p className="mt-1 text-xs text-ink-3">{hint}</p>}
    </fieldset>
  );
}

const BOX = 'min-h-8 items-center gap-2 rounded-md border border-line px-2.5 has-checked:border-accent';

const CHOICE_LAYOUTS = {
  boxes: { list: 'flex flex-wrap gap-1.5', item: BOX },
  grid: { list: 'grid grid-cols-2 gap-1.5 sm:grid-cols-4', item: BOX },
  rows: {
    list: 'divide-y divide-line rounded-md border border-line',
    item: 'cursor-pointer items-start gap-2.5 px-3 py-2 *:[input]:mt-0.5',
  },
} as const;

/** The error of a whole form. */
export function FormError({ children }: { children: ReactNode }) {
  if (children === undefined || children === '') return null;
  return (
    <div role="alert" className="rounded-md bg-danger-soft px-3 py-2 text-danger">
      {children}
    </div>
  );
}

/** Asks for the name of a record. Takes the focus when its dialog opens. */
export function NameField(
  props: Pick<ComponentProps<typeof TextField>, 'value' | 'onChange' | 'hint' | 'error'>,
) {
  return <TextField label="Name" data-autofocus maxLength={100} {...props} />;
}

/** What a text would be in the form that names have: "My New Feature" as `my-new-feature`; `undefined` if nothing fits. */
function slugOf(text: string, pattern: RegExp): string | undefined {
  const plain = text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();
  return [/[^a-z0-9._-]+/g, /[^a-z0-9]+/g]
    .map((other) => plain.replaceAll(other, '-').replaceAll(/^[^a-z0-9]+|[^a-z0-9]+$/g, ''))
    .find((slug) => pattern.test(slug));
}

/** Offers the form that fits for a name that does not. */
export function SlugOffer({
  text,
  pattern,
  onUse,
}: {
  text: string;
  pattern: RegExp;
  onUse: (slug: string) => void;
}) {
  const slug = pattern.test(text) ? undefined : slugOf(text, pattern);
  if (slug === undefined) return null;
  return (
    <button
      type="button"
      className="mt-1 min-h-6 max-w-full truncate rounded text-xs font-medium text-accent hover:underline"
      onClick={() => onUse(slug)}
    >
      {messages.useSlug} <span className="font-mono">{slug}</span>
    </button>
  );
}

/** Asks for the name of a project or an environment. */
export function PlaceNameField({
  texts: { name, nameHint, namePlaceholder },
  ...rest
}: Pick<ComponentProps<typeof TextField>, 'value' | 'onChange' | 'error'> & {
  texts: { readonly name: string; readonly nameHint: string; readonly namePlaceholder: string };
}) {
  return (
    <div>
      <TextField
        label={name}
        hint={nameHint}
        placeholder={namePlaceholder}
        data-autofocus
        autoCapitalize="off"
        spellCheck={false}
        maxLength={64}
        {...rest}
      />
      <SlugOffer text={rest.value} pattern={NAME_PATTERN} onUse={rest.onChange} />
    </div>
  );
}
