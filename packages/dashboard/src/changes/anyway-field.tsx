import { isRefusal } from '../api/api-error.ts';
import { CheckField } from '../components/field.tsx';
import { messages } from './dialog-messages.ts';

/** Asks whether a plan and a scheduled change of one flag are both meant, once the server has refused the second one. */
export function AnywayField({
  error,
  isChecked,
  onChange,
}: {
  error: unknown;
  isChecked: boolean;
  onChange: (isChecked: boolean) => void;
}) {
  if (!isChecked && !isRefusal(error, 'already_planned')) return null;
  return <CheckField label={messages.anyway} isChecked={isChecked} onChange={onChange} />;
}
