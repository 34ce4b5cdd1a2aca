import { ErrorText } from '../components/error-text.tsx';
import { FormError } from '../components/field.tsx';

/** What the API refused, in its words, with the page that explains it; nothing when nothing was refused. */
export function RefusalNote({ error }: { error: unknown }) {
  if (error === null || error === undefined) return null;
  return (
    <FormError>
      <ErrorText error={error} />
    </FormError>
  );
}
