import SlidersHorizontal from 'lucide-react/icons/sliders-horizontal';
import { useState } from 'react';
import type { EnvironmentRecord } from '../../api/types.ts';
import { Button, IconButton } from '../../components/button.tsx';
import { classNames } from '../../components/class-names.ts';
import { SearchField } from '../../components/search-field.tsx';
import type { Choices } from './choices.ts';
import { FilterSelects } from './filter-selects.tsx';
import { type FlagFilter, isFiltering } from './flag-filter.ts';

/** Sets members of the filter in the address; empty ones are left out of it. */
export type SetFilter = (members: Readonly<Record<string, string | undefined>>) => void;

/** The search and the filters over the list. On a narrow screen the filters open below the search. */
export function FilterBar({
  filter,
  onChange,
  environments,
  choices,
  density,
  onDensity,
}: {
  filter: FlagFilter;
  onChange: SetFilter;
  environments: readonly EnvironmentRecord[];
  choices: Choices;
  density: 'comfortable' | 'compact';
  onDensity: (density: 'comfortable' | 'compact') => void;
}) {
  const [isOpen, setOpen] = useState(false);
  return (
    <div className="flex flex-wrap items-center gap-2">
      <search className="min-w-40 flex-1 sm:max-w-xs">
        <SearchField label="Search flags" value={filter.query} onChange={(q) => onChange({ q })} />
      </search>
      <IconButton
        label="Filters"
        className="size-8 border border-line sm:hidden"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        <SlidersHorizontal size={14} aria-hidden />
      </IconButton>
      <div
        className={classNames(
          'flex flex-wrap items-center gap-2 max-sm:basis-full',
          !isOpen && 'max-sm:hidden',
        )}
      >
        <FilterSelects filter={filter} onChange={onChange} environments={environments} choices={choices} />
        {isFiltering(filter) && (
          <Button
            kind="quiet"
            onClick={() => onChange({ q: '', state: '', tag: '', owner: '', changed: '' })}
          >
            Clear
          </Button>
        )}
        <Button
          kind="quiet"
          className="max-sm:hidden"
          onClick={() => onDensity(density === 'compact' ? 'comfortable' : 'compact')}
        >
          {density === 'compact' ? 'Comfortable' : 'Compact'}
        </Button>
      </div>
    </div>
  );
}
