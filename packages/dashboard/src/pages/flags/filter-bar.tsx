import Columns3 from 'lucide-react/icons/columns-3';
import Pin from 'lucide-react/icons/pin';
import Rows2 from 'lucide-react/icons/rows-2';
import Rows4 from 'lucide-react/icons/rows-4';
import Star from 'lucide-react/icons/star';
import { memo } from 'react';
import type { EnvironmentRecord, ProjectRecord } from '../../api/types.ts';
import { EnvironmentBadge } from '../../components/badges.tsx';
import { Button, IconButton } from '../../components/button.tsx';
import { FoldedFilters, SearchField } from '../../components/list-filter.tsx';
import { MultiSelect } from '../../components/multi-select.tsx';
import { useOwnerName } from '../../components/people-picker.tsx';
import { Select } from '../../components/select.tsx';
import { FILTER_MEMBERS, type FlagFilter, isFiltering, MINE, tagList } from '../../flags/flag-filter.ts';
import type { Choices } from '../../flags/flag-tags.ts';
import { hideable, useColumns } from './columns.ts';
import { extraColumnsOf } from './extra-columns.tsx';
import { messages } from './messages.ts';
import { ViewsMenu } from './views.tsx';

const words = messages.filters;

/** Sets members of the filter in the address; empty ones are left out of it. */
type SetFilter = (members: Readonly<Record<string, string | undefined>>) => void;

/** The members of the address without any filter; the order stays, and whether archived flags are shown. */
export const NO_FILTER: Readonly<Record<string, string>> = Object.fromEntries(
  FILTER_MEMBERS.filter((name) => name !== 'sort' && name !== 'archived').map((name) => [name, '']),
);

/** The search and the filters above the list. On a narrow screen the filters open below the search. */
export const FilterBar = memo(function FilterBar({
  project,
  filter,
  onChange,
  environments,
  choices,
  hasFavorites,
}: {
  project: ProjectRecord;
  filter: FlagFilter;
  onChange: SetFilter;
  environments: readonly EnvironmentRecord[];
  choices: Choices;
  hasFavorites: boolean;
}) {
  return (
    <div className="flex flex-wrap items-start gap-2">
      <search className="min-w-40 flex-1 md:max-w-xs">
        <SearchField label={words.search} value={filter.query} onChange={(q) => onChange({ q })} />
      </search>

      <FoldedFilters isSet={isFiltering({ ...filter, query: '' }) || filter.isArchived}>
        <FilterSelects
          filter={filter}
          onChange={onChange}
          environments={environments}
          choices={choices}
          hasReads={project.usageSince !== undefined}
        />

        {(hasFavorites || filter.isFavorite) && (
          <Button
            aria-pressed={filter.isFavorite}
            className="px-2.5 font-normal aria-pressed:border-accent aria-pressed:bg-accent-soft"
            onClick={() => onChange({ favorite: filter.isFavorite ? '' : '1' })}
          >
            <Star size={14} className="text-ink-3" aria-hidden /> {words.favorites}
          </Button>
        )}
        {isFiltering(filter) && (
          <Button kind="quiet" onClick={() => onChange(NO_FILTER)}>
            {words.clear}
          </Button>
        )}

        {/* On wide screens it is beside the heading. */}
        <span className="flex gap-2 md:hidden">
          <ViewsMenu project={project.name} />
          <ColumnPicker project={project} />
        </span>
      </FoldedFilters>
    </div>
  );
});

/** How the list looks: saved filters, columns and the height of its rows. */
export const ViewBar = memo(function ViewBar({
  project,
  density,
  onDensity,
}: {
  project: ProjectRecord;
  density: 'comfortable' | 'compact';
  onDensity: (density: 'comfortable' | 'compact') => void;
}) {
  const other = density === 'compact' ? 'comfortable' : 'compact';
  const Rows = density === 'compact' ? Rows2 : Rows4;
  return (
    <span className="flex items-center gap-2 max-md:hidden">
      <ViewsMenu project={project.name} />
      <ColumnPicker project={project} />
      <IconButton
        icon={Rows}
        iconSize={15}
        label={words.density[other]}
        className="size-8"
        onClick={() => onDensity(other)}
      />
    </span>
  );
});

/** Selects the columns of the list, and pins environments so that they come first and stay in view. */
function ColumnPicker({ project }: { project: ProjectRecord }) {
  const { choice, show, togglePin } = useColumns(project);
  const names = project.environments.map(({ name }) => name);
  const all = hideable(project);
  const shown = all.filter((name) => !choice.hidden.includes(name)).concat(choice.added);
  const hidden = all.filter((name) => !shown.includes(name)).length;

  return (
    <MultiSelect
      label={words.columns}
      isNamed
      align="end"
      className={hidden === 0 ? 'border-line! bg-surface! text-ink!' : undefined}
      none={words.columns}
      summary={
        <span className="flex items-center gap-1.5">
          <Columns3 size={14} className="shrink-0 text-ink-3" aria-hidden />
          {hidden === 0 ? words.columns : words.hiddenColumns(hidden)}
        </span>
      }
      options={[
        ...project.environments.map((environment) => ({
          value: environment.name,
          label: <EnvironmentBadge environment={environment} fit="cut" />,
        })),
        ...extraColumnsOf(project).map(({ name, label }) => ({ value: name, label })),
      ]}
      selected={shown}
      clear={{
        label: words.resetColumns,
        isPossible: hidden > 0,
        run: () => show([...all, ...choice.added]),
      }}
      onChange={show}
      extra={(name) =>
        names.includes(name) && (
          <IconButton
            icon={Pin}
            iconClassName={choice.pinned.includes(name) ? 'fill-current' : undefined}
            label={words.pin(name)}
            aria-pressed={choice.pinned.includes(name)}
            className="aria-pressed:text-accent"
            onClick={() => togglePin(name)}
          />
        )
      }
    />
  );
}

/** The filters. Those without values are left out. */
function FilterSelects({
  filter,
  onChange,
  environments,
  choices,
  hasReads,
}: {
  filter: FlagFilter;
  onChange: SetFilter;
  environments: readonly EnvironmentRecord[];
  choices: Choices;
  /** Whether the project counts reads. */
  hasReads: boolean;
}) {
  const ownerName = useOwnerName();
  const [first, ...others] = words.orders;
  const orders = hasReads ? [...others, ...words.readOrders] : others;

  return (
    <>
      {environments.length > 0 && (
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
      )}

      {choices.tags.length > 0 && (
        <MultiSelect
          label={words.tags}
          none={words.anyTag}
          options={choices.tags.map((value) => ({ value }))}
          selected={filter.tags}
          onChange={(tags) => onChange({ tag: tagList.write(tags) })}
        />
      )}

      {choices.owners.length > 0 && (
        <Select
          kind="filter"
          label={words.owner}
          value={filter.owner}
          onSelect={(owner) => onChange({ owner })}
          none={words.anyOwner}
          choices={[[MINE, words.mine], ...choices.owners.map((owner) => [owner, ownerName(owner)] as const)]}
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
        choices={[filter.query.trim() === '' ? first : ['', words.bestMatch], ...orders]}
      />
    </>
  );
}
