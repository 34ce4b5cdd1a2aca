import { ApiError, isRefusal, messageOf } from '../api/api-error.ts';

/** What went wrong, where the documentation explains it, and for input that was refused the API's reason on demand. */
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
      {isRefusal(error, 'invalid_argument') && (
        <details className="mt-1 text-xs">
          <summary className="min-h-6 cursor-pointer">Details</summary>
          <span className="font-mono break-words">{error.message}</span>
        </details>
      )}
    </>
  );
}
