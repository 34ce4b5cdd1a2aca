import { type ReactNode, useMemo } from 'react';
import { useOperators } from '../api/operators.ts';
import { Combobox, type Suggestion } from './combobox.tsx';
import { Field } from './field.tsx';
import { messages } from './messages.ts';

/** The people who can sign in, by name, and then `others`, such as teams. */
function usePeople(others: readonly string[]): readonly Suggestion[] {
  const { data: operators } = useOperators();
  return useMemo(() => {
    const people = (operators ?? []).map(({ name, email }) =>
      name === '' ? { value: email } : { value: email, label: name, detail: email },
    );
    const known = new Set(people.map(({ value }) => value));
    return [...people, ...others.filter((each) => !known.has(each)).map((value) => ({ value }))];
  }, [operators, others]);
}

/** A person by e-mail, or any other name, such as a team's. Suggests the people who can sign in, and `others`. */
export function PeoplePicker({
  value,
  others,
  onChange,
  ...control
}: {
  value: string;
  others: readonly string[];
  onChange: (value: string) => void;
  id?: string;
  className?: string;
  'aria-label'?: string;
  'aria-describedby'?: string;
  'aria-invalid'?: true;
  'data-autofocus'?: boolean;
}) {
  return (
    <Combobox
      {...control}
      maxLength={100}
      listLabel={messages.people}
      suggestions={usePeople(others)}
      value={value}
      onChange={onChange}
      onPick={onChange}
    />
  );
}

/** A {@link PeoplePicker} below its label. */
export function PeopleField({
  label,
  hint,
  ...rest
}: {
  label: ReactNode;
  hint?: ReactNode;
  value: string;
  others: readonly string[];
  onChange: (value: string) => void;
}) {
  return (
    <Field label={label} hint={hint}>
      {(control) => <PeoplePicker {...control} {...rest} />}
    </Field>
  );
}

/** Returns a function that names an owner: the name of a person who was stored by e-mail, or the text itself. */
export function useOwnerName(): (owner: string) => string {
  const { data: operators } = useOperators();
  return useMemo(() => {
    const names = new Map((operators ?? []).map(({ email, name }) => [email, name]));
    return (owner) => names.get(owner) || owner;
  }, [operators]);
}
