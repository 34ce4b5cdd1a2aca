import { FLAG_KEY_PATTERN } from '@halyard/protocol';
import SearchX from 'lucide-react/icons/search-x';
import { Button } from '../../components/button.tsx';
import { EmptyState } from '../../components/empty-state.tsx';

/** Nothing matches: the way back, and the flag that was looked for. */
export function NoHits({
  query,
  onClear,
  onCreate,
}: {
  query: string;
  onClear: () => void;
  onCreate: ((key: string) => void) | undefined;
}) {
  const key = query.trim().replaceAll(/\s+/g, '-');
  const canCreate = onCreate !== undefined && FLAG_KEY_PATTERN.test(key);
  return (
    <EmptyState
      icon={<SearchX size={20} aria-hidden />}
      title={query.trim() === '' ? 'No flag is like that' : `No flag matches “${query.trim()}”`}
      action={
        <>
          <Button onClick={onClear}>Clear the filters</Button>
          {canCreate && (
            <Button kind="primary" onClick={() => onCreate(key)}>
              Create “{key}”
            </Button>
          )}
        </>
      }
    />
  );
}
