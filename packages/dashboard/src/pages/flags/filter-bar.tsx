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
        onChange={(event) => onChange({ state: event.target.value })}
      >
        <option value="">{words.anyState}</option>
        {environments.map(({ name }) => (
          <optgroup key={name} label={name}>
            <option value={`${name}:on`}>{words.on(name)}</option>
            <option value={`${name}:off`}>{words.off(name)}</option>
            <option value={`${name}:rollout`}>{words.rollout(name)}</option>
            <option value={`${name}:unset`}>{words.unset(name)}</option>
          </optgroup>
        ))}
      </Select>
      {choices.tags.length > 0 && (
        <Choice
          label={words.tag}
          none={words.anyTag}
          value={filter.tag}
          from={choices.tags}
          onSelect={(tag) => onChange({ tag })}
        />
      )}
      {choices.owners.length > 0 && (
        <Choice
          label={words.owner}
          none={words.anyOwner}
          value={filter.owner}
          from={choices.owners}
          onSelect={(owner) => onChange({ owner })}
        />
      )}
      <Select
        kind="filter"
        label={words.changed}
        value={filter.changed ?? ''}
        onChange={(event) => onChange({ changed: event.target.value })}
      >
        {options(words.changedSpans)}
      </Select>
      <Select
        kind="filter"
        label={words.which}
        value={filter.isArchived ? 'archived' : ''}
        onChange={(event) => onChange({ archived: event.target.value === '' ? '' : '1' })}
      >
        <option value="">{words.active}</option>
        <option value="archived">{words.archived}</option>
      </Select>
      <Select
        kind="filter"
        label={words.order}
        value={filter.sort === 'key' ? '' : filter.sort}
        onChange={(event) => onChange({ sort: event.target.value })}
      >
        {options(words.orders)}
      </Select>
    </>
  );
}

function options(choices: readonly (readonly [value: string, text: string])[]) {
  return choices.map(([value, text]) => (
    <option key={value} value={value}>
      {text}
    </option>
  ));
}

function Choice({
  label,
  none,
  value,
  from,
  onSelect,
}: {
  label: string;
  none: string;
  value: string;
  from: readonly string[];
  onSelect: (value: string) => void;
}) {
  return (
    <Select kind="filter" label={label} value={value} onChange={(event) => onSelect(event.target.value)}>
      <option value="">{none}</option>
      {options(from.map((each) => [each, each]))}
    </Select>
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
