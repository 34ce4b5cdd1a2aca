import { ApiError, messageOf } from '../api/api-error.ts';
import { FormError } from '../components/field.tsx';

/** What the API refused, in its words, with the page that explains it. */
export function RefusalNote({ error }: { error: unknown }) {
  if (error === null || error === undefined) return null;
  const docs = error instanceof ApiError ? error.docs : undefined;
  return (
    <FormError>
      {messageOf(error)}
      {docs !== undefined && (
        <>
          {' '}
          <a href={docs} className="underline">
            What this means
          </a>
        </>
      )}
    </FormError>
  );
}
