import { isSessionEnd } from '../api/api-error.ts';
import { ErrorText } from '../components/error-text.tsx';
import { FormError } from '../components/field.tsx';

/** What was refused, with the page that explains it; nothing where nothing was, or where the session has ended. */
export function RefusalNote({ error }: { error: unknown }) {
  if (error === null || error === undefined || isSessionEnd(error)) return null;
  return (
    <FormError>
      <ErrorText error={error} />
    </FormError>
  );
}
