import { ApiError, messageOf } from '../api/api-error.ts';

/** What the API said, and where its documentation explains it. */
export function ErrorText({ error }: { error: unknown }) {
  const docs = error instanceof ApiError ? error.docs : undefined;
  return (
    <>
      {messageOf(error)}
      {docs !== undefined && (
        <>
          {' '}
          <a href={docs} target="_blank" rel="noreferrer" className="underline">
            What this means
          </a>
        </>
      )}
    </>
  );
}
