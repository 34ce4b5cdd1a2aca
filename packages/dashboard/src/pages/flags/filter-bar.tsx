import SlidersHorizontal from 'lucide-react/icons/sliders-horizontal';
import { useMemo, useState } from 'react';
import type { EnvironmentRecord, FlagRecord } from '../../api/types.ts';
import { Button, IconButton } from '../../components/button.tsx';
import { classNames } from '../../components/class-names.ts';
import { SearchField } from '../../components/list-filter.tsx';
import { Select } from '../../components/select.tsx';
import { type FlagFilter, isFiltering } from './flag-filter.ts';
import { messages } from './messages.ts';

const words = messages.filters;

/** Sets members of the filter in the address; empty ones are left out of it. */
type SetFilter = (members: Readonly<Record<string, string | undefined>>) => void;

/** The search and the filters above the list. On a narrow screen the filters open below the search. */
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
        <SearchField label={messages.filters.search} value={filter.query} onChange={(q) => onChange({ q })} />
      </search>
      <IconButton
        label={messages.filters.toggle}
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
            {messages.filters.clear}
          </Button>
        )}
        <Button
          kind="quiet"
          className="max-sm:hidden"
          onClick={() => onDensity(density === 'compact' ? 'comfortable' : 'compact')}
        >
          {messages.filters.density[density === 'compact' ? 'comfortable' : 'compact']}
        </Button>
      </div>
    </div>
  );
}

/** The filters with one value each. Those without values are left out. */
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
      <Select
        kind="filter"
        label={words.state}
        value={filter.state === undefined ? '' : `${filter.state.environment}:${filter.state.is}`}
        onSelect={(state) => onChange({ state })}
        none={words.anyState}
        choices={environments.map(({ name }) => ({
          group: name,
          choices: [
            [`${name}:on`, words.on(name)],
            [`${name}:off`, words.off(name)],
            [`${name}:rollout`, words.rollout(name)],
            [`${name}:unset`, words.unset(name)],
          ],
        }))}
      />
      {choices.tags.length > 0 && (
        <Select
          kind="filter"
          label={words.tag}
          value={filter.tag}
          onSelect={(tag) => onChange({ tag })}
          none={words.anyTag}
          choices={choices.tags}
        />
      )}
      {choices.owners.length > 0 && (
        <Select
          kind="filter"
          label={words.owner}
          value={filter.owner}
          onSelect={(owner) => onChange({ owner })}
          none={words.anyOwner}
          choices={choices.owners}
        />
      )}
      <Select
        kind="filter"
        label={words.changed}
        value={filter.changed ?? ''}
        onSelect={(changed) => onChange({ changed })}
        choices={words.changedSpans}
      />
      <Select
        kind="filter"
        label={words.which}
        value={filter.isArchived ? 'archived' : ''}
        onSelect={(which) => onChange({ archived: which === '' ? '' : '1' })}
        none={words.active}
        choices={[['archived', words.archived]]}
      />
      <Select
        kind="filter"
        label={words.order}
        value={filter.sort === 'key' ? '' : filter.sort}
        onSelect={(sort) => onChange({ sort })}
        choices={words.orders}
      />
    </>
  );
}

/** The tags and owners that occur, in order. */
interface Choices {
  readonly tags: readonly string[];
  readonly owners: readonly string[];
}

/** The values that the filters of a list offer. */
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
