import TriangleAlert from 'lucide-react/icons/triangle-alert';
import { ApiError, messageOf } from '../api/api-error.ts';
import { Button } from './button.tsx';
import { EmptyState } from './empty-state.tsx';

/** What stands where something could not be loaded. */
export function Problem({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const docs = error instanceof ApiError ? error.docs : undefined;
  return (
    <EmptyState
      icon={<TriangleAlert size={20} aria-hidden />}
      title="This could not be loaded"
      action={
        <>
          {onRetry && <Button onClick={onRetry}>Try again</Button>}
          {docs !== undefined && (
            <a className="inline-flex h-8 items-center px-2 text-accent underline" href={docs}>
              What this means
            </a>
          )}
        </>
      }
    >
      {messageOf(error)}
    </EmptyState>
  );
}
