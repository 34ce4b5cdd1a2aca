import { withoutSpace } from '@halyard/protocol';
import type { NamedValue } from '../../api/named-values.ts';
import { Select } from '../../components/select.tsx';
import { messages } from './messages.tsx';

const words = messages.namedValues;

/** The longest beginning of a value in the menu, in characters. */
const PREVIEW = 40;

/** A menu of the values that the flag declares, above the field in which any other value can be written. */
export function NamedValueMenu({
  environment,
  values,
  text,
  isReadOnly,
  onChoose,
}: {
  environment: string;
  values: readonly NamedValue[];
  /** The JSON text in the field. */
  text: string;
  isReadOnly: boolean;
  onChoose: (text: string) => void;
}) {
  const chosen = namedValue(values, text);
  if (values.length === 0) return null;

  return (
    <div className="mb-2 flex min-w-0 flex-wrap items-center gap-x-2 gap-y-1">
      <Select
        label={words.choose(environment)}
        className="max-w-full"
        disabled={isReadOnly}
        value={chosen?.name ?? ''}
        none={text.trim() === '' ? words.noValue : words.custom}
        choices={values.map((each) => [each.name, `${each.name}: ${previewOf(each.text)}`] as const)}
        onSelect={(name) => {
          const value = values.find((each) => each.name === name);
          if (value !== undefined) onChoose(value.text);
        }}
      />
      {chosen !== undefined && chosen.description !== '' && (
        <span className="min-w-0 text-xs text-ink-3">{chosen.description}</span>
      )}
    </div>
  );
}

/** The named value that a JSON text is, whatever its white space. */
export function namedValue(values: readonly NamedValue[], text: string): NamedValue | undefined {
  const compact = withoutSpace(text.trim());
  return values.find((each) => each.text === compact);
}

function previewOf(text: string): string {
  return text.length > PREVIEW ? `${text.slice(0, PREVIEW - 1)}…` : text;
}
