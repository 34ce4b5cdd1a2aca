import type { EnvironmentRecord } from '../../api/types.ts';
import type { Choices } from './choices.ts';
import type { SetFilter } from './filter-bar.tsx';
import { FilterSelect } from './filter-select.tsx';
import type { FlagFilter } from './flag-filter.ts';

/** The filters of which one each is chosen. Those that could not choose anything are left out. */
export function FilterSelects({
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
