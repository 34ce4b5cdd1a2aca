import SlidersHorizontal from 'lucide-react/icons/sliders-horizontal';
import { useMemo, useState } from 'react';
import type { EnvironmentRecord, FlagRecord } from '../../api/types.ts';
import { Button, IconButton } from '../../components/button.tsx';
import { classNames } from '../../components/class-names.ts';
import { SearchField } from '../../components/list-filter.tsx';
import { FilterSelect } from '../../components/select.tsx';
import { type FlagFilter, isFiltering } from './flag-filter.ts';

/** Sets members of the filter in the address; empty ones are left out of it. */
type SetFilter = (members: Readonly<Record<string, string | undefined>>) => void;

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

/** The filters of which one each is chosen. Those that could not choose anything are left out. */
function FilterSelects({
  filter,
  onChange,
  environments,
  choices,
}: {
  filter: FlagFilter;
  onChange: SetFilter;
  environments: readonly EnvironmentRecord[];
  choices: Choices;
}) {
  return (
    <>
      <FilterSelect
        label="State"
        value={filter.state === undefined ? '' : `${filter.state.environment}:${filter.state.is}`}
        onChange={(event) => onChange({ state: event.target.value })}
      >
        <option value="">Any state</option>
        {environments.map(({ name }) => (
          <optgroup key={name} label={name}>
            <option value={`${name}:on`}>On in {name}</option>
            <option value={`${name}:off`}>Off in {name}</option>
            <option value={`${name}:rollout`}>With a rollout in {name}</option>
            <option value={`${name}:unset`}>Not set in {name}</option>
          </optgroup>
        ))}
      </FilterSelect>
      {choices.tags.length > 0 && (
        <Choice
          label="Tag"
          none="Any tag"
          value={filter.tag}
          from={choices.tags}
          onChoose={(tag) => onChange({ tag })}
        />
      )}
      {choices.owners.length > 0 && (
        <Choice
          label="Owner"
          none="Any owner"
          value={filter.owner}
          from={choices.owners}
          onChoose={(owner) => onChange({ owner })}
        />
      )}
      <FilterSelect
        label="Changed"
        value={filter.changed ?? ''}
        onChange={(event) => onChange({ changed: event.target.value })}
      >
        <option value="">Changed any time</option>
        <option value="1h">Changed in the last hour</option>
        <option value="24h">Changed in the last day</option>
        <option value="7d">Changed in the last week</option>
      </FilterSelect>
      <FilterSelect
        label="Which flags"
        value={filter.isArchived ? 'archived' : ''}
        onChange={(event) => onChange({ archived: event.target.value === '' ? '' : '1' })}
      >
        <option value="">Active</option>
        <option value="archived">Archived</option>
      </FilterSelect>
      <FilterSelect
        label="Order"
        value={filter.sort === 'key' ? '' : filter.sort}
        onChange={(event) => onChange({ sort: event.target.value })}
      >
        <option value="">By key</option>
        <option value="-key">By key, backwards</option>
        <option value="changed">Last changed first</option>
        <option value="-changed">Longest unchanged first</option>
        <option value="created">Newest first</option>
      </FilterSelect>
    </>
  );
}

function Choice({
  label,
  none,
  value,
  from,
  onChoose,
}: {
  label: string;
  none: string;
  value: string;
  from: readonly string[];
  onChoose: (value: string) => void;
}) {
  return (
    <FilterSelect label={label} value={value} onChange={(event) => onChoose(event.target.value)}>
      <option value="">{none}</option>
      {from.map((each) => (
        <option key={each} value={each}>
          {each}
        </option>
      ))}
    </FilterSelect>
  );
}

/** The tags and owners that occur, in order. */
interface Choices {
  readonly tags: readonly string[];
  readonly owners: readonly string[];
}

/** What can be chosen from in the filters of a list. */
export function useChoices(flags: readonly FlagRecord[]): Choices {
  return useMemo(() => {
    const [tags, owners] = [new Set<string>(), new Set<string>()];
    for (const flag of flags) {
      for (const tag of flag.tags) tags.add(tag);
      if (flag.owner !== '') owners.add(flag.owner);
    }
    return { tags: [...tags].sort(), owners: [...owners].sort() };
  }, [flags]);
}
