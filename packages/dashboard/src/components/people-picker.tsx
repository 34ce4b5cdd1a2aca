import { type ComponentProps, useMemo } from 'react';
import { useOperators } from '../api/operators.ts';
import { Combobox, type Suggestion } from './combobox.tsx';
import { Field, type FieldTexts } from './field.tsx';
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

/** Props of a control for an owner. */
interface OwnerProps {
  readonly value: string;
  /** Suggested besides the people who can sign in, such as teams. */
  readonly others: readonly string[];
  readonly onChange: (value: string) => void;
}

/** A person by e-mail, or any other name, such as a team's. Other attributes go to the `<input>`. */
export function PeoplePicker({
  others,
  onChange,
  ...control
}: OwnerProps & Omit<ComponentProps<'input'>, 'value' | 'onChange' | 'list'>) {
  return (
    <Combobox
      {...control}
      maxLength={100}
      listLabel={messages.people}
      suggestions={usePeople(others)}
      onChange={onChange}
      onPick={onChange}
    />
  );
}

/** A {@link PeoplePicker} below its label. */
export function PeopleField({ label, hint, ...rest }: OwnerProps & FieldTexts) {
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
