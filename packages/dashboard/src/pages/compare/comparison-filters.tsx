import { useSearchState } from '../../api/use-search-state.ts';
import { SearchField } from '../../components/search-field.tsx';
import { Select } from '../../components/select.tsx';
import { STATE_FIELD_NAMES } from '../../components/state-fields.ts';

/** Which differences are shown; kept in the address. */
export function ComparisonFilters({ shown, all }: { shown: number; all: number }) {
  const [params, setParams] = useSearchState();
  return (
    <div className="mb-3 flex flex-wrap items-center gap-2">
      <SearchField
        label="Filter by key"
        className="w-64 max-sm:w-full"
        value={params.get('q') ?? ''}
        onChange={(q) => setParams({ q })}
      />
      <Select
        label="What differs"
        value={params.get('field') ?? ''}
        onChange={(event) => setParams({ field: event.target.value })}
      >
        <option value="">any difference</option>
        {Object.entries(STATE_FIELD_NAMES).map(([field, name]) => (
          <option key={field} value={field}>
            {name}
          </option>
        ))}
      </Select>
      <span className="text-ink-2" role="status">
        {shown === all ? '' : `${shown} of `}
        {all} {all === 1 ? 'flag differs' : 'flags differ'}
      </span>
    </div>
  );
}
