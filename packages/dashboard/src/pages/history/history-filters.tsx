import Download from 'lucide-react/icons/download';
import { type ComponentProps, useEffect, useMemo, useRef, useState } from 'react';
import { type AuditFilter, auditPath } from '../../api/audit.ts';
import { useOperators, usePersonName } from '../../api/operators.ts';
import { useEnvironments } from '../../api/projects.ts';
import { useCan } from '../../api/session.ts';
import { useTokens } from '../../api/tokens.ts';
import type { AuditEntryRecord } from '../../api/types.ts';
import { useSearchState } from '../../browser/use-search-state.ts';
import { classNames } from '../../components/class-names.ts';
import { Combobox, type Suggestion } from '../../components/combobox.tsx';
import { useEnvironmentFilter } from '../../components/environment-filter.tsx';
import { CONTROL, DateInput } from '../../components/field.tsx';
import { FoldedFilters, SearchField } from '../../components/list-filter.tsx';
import { Select } from '../../components/select.tsx';
import { messages } from './messages.ts';

/** How long after the last key the list is asked for, in milliseconds. */
const PAUSE_MS = 250;

const ACTION_NAMES = new Map<string, string>(messages.actions);

/**
 * The filters of the history, kept in the address; the export applies them too. On a narrow screen they open below the
 * search, at once if the address has any.
 */
export function HistoryFilters({
  filter,
  entries,
}: {
  filter: AuditFilter;
  /** The listed entries: their authors can be selected too, including people who were removed. */
  entries: readonly AuditEntryRecord[];
}) {
  const [params, setParams] = useSearchState();
  const { q = '' } = filter;
  const [text, setText] = useState(q);
  const sent = useRef(q);

  useEffect(() => {
    if (text.trim() === sent.current) return;
    const timer = setTimeout(() => {
      sent.current = text.trim();
      setParams({ q: sent.current });
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text, setParams]);

  useEffect(() => {
    // Something else changed the address, such as a link to the whole history.
    if (q === sent.current) return;
    sent.current = q;
    setText(q);
  }, [q]);

  const { days } = messages;
  const isFiltered = ['actor', 'environment', 'action', ...days.map(({ name }) => name)].some((name) =>
    params.has(name),
  );

  return (
    <search className="mb-3 flex flex-wrap items-start gap-2">
      <SearchField
        label={messages.search}
        className="w-56 max-md:w-auto max-md:flex-1"
        value={text}
        onChange={setText}
      />

      <FoldedFilters startsOpen={isFiltered} isSet={isFiltered}>
        <FilterSelects filter={filter} entries={entries} />

        <span className="flex flex-wrap items-center gap-2">
          {days.map(({ name, label, text: beside }) => (
            <span key={name} className="flex items-center gap-1.5 text-ink-2">
              <span aria-hidden>{beside}</span>
              <DateInput
                label={label}
                value={params.get(name) ?? ''}
                onChange={(day) => setParams({ [name]: day })}
              />
            </span>
          ))}
        </span>

        <a
          href={auditPath(filter, { format: 'ndjson' })}
          download
          className="ml-auto inline-flex h-8 items-center gap-1.5 rounded-md px-2 text-ink-2 hover:bg-hover hover:text-ink"
        >
          <Download size={14} aria-hidden /> {messages.export}
          <span className="sr-only">{messages.exportDetail}</span>
        </a>
      </FoldedFilters>
    </search>
  );
}

/** The filters by person, environment and action. One in use is always listed, so that it can be removed even if its subject was deleted. */
function FilterSelects({ filter, entries }: ComponentProps<typeof HistoryFilters>) {
  const [, setParams] = useSearchState();
  const [, selectForAll] = useEnvironmentFilter(filter.project ?? '');
  const authors = useAuthors(entries, filter.actor);
  const places = withSelected(
    useEnvironments(filter.project ?? '').map(({ name }) => name),
    filter.environment,
  );
  const actions = withSelected(
    messages.actions.map(([action]) => action),
    filter.action,
  );

  return (
    <>
      <AuthorPicker authors={authors} selected={filter.actor} onSelect={(actor) => setParams({ actor })} />

      {places.length > 0 && (
        <Select
          label={messages.environment}
          className="max-w-44"
          value={filter.environment ?? ''}
          onSelect={(environment) => {
            // Otherwise it would still apply.
            if (environment === '') selectForAll('');
            setParams({ environment });
          }}
          none={messages.anyEnvironment}
          choices={places}
        />
      )}

      <Select
        label={messages.action}
        className="max-w-44"
        value={filter.action ?? ''}
        onSelect={(action) => setParams({ action })}
        none={messages.anyAction}
        choices={actions.map((action) => [action, ACTION_NAMES.get(action) ?? action])}
      />
    </>
  );
}

/** Finds a person or a token by name. An empty text stands for everyone; any other must be one of them. */
function AuthorPicker({
  authors,
  selected,
  onSelect,
}: {
  authors: readonly Suggestion[];
  selected: string | undefined;
  /** An empty one for everyone. */
  onSelect: (actor: string) => void;
}) {
  const name = authors.find(({ value }) => value === selected)?.label ?? '';
  const [typed, setTyped] = useState<string>();

  return (
    <Combobox
      type="search"
      aria-label={messages.person}
      placeholder={messages.anyone}
      className={classNames(CONTROL, 'w-44')}
      listLabel={messages.people}
      value={typed ?? name}
      suggestions={authors}
      onChange={(text) => {
        setTyped(text);
        if (text === '' && selected !== undefined) onSelect('');
      }}
      onPick={(actor) => {
        setTyped(undefined);
        onSelect(actor);
      }}
      onBlur={() => setTyped(undefined)}
    />
  );
}

/** Everyone who may have made a change, by name: people, access tokens, and the authors of what is listed or selected. */
function useAuthors(
  entries: readonly AuditEntryRecord[],
  selected: string | undefined,
): readonly Suggestion[] {
  const { data: operators } = useOperators();
  const { data: tokens } = useTokens({ enabled: useCan('admin') });
  const nameOf = usePersonName();
  // Authors of an earlier, wider list stay selectable.
  const [seen] = useState(() => new Set<string>());
  return useMemo(() => {
    for (const { actor } of entries) seen.add(actor);
    const actors = new Set([
      ...(operators ?? []).map(({ email }) => `operator:${email}`),
      ...(tokens ?? []).map(({ name }) => `token:${name}`),
      ...seen,
      'system',
      ...(selected === undefined ? [] : [selected]),
    ]);
    const named = [...actors].map((actor) => ({ actor, ...nameOf(actor) }));
    const isShared = (name: string) => named.filter((each) => each.name === name).length > 1;
    return named
      .map(({ actor, name, detail }) => ({
        value: actor,
        label: detail !== undefined && isShared(name) ? `${name} (${detail})` : name,
        ...(detail === undefined || isShared(name) ? {} : { detail }),
      }))
      .sort((one, other) => one.label.localeCompare(other.label));
  }, [operators, tokens, entries, seen, selected, nameOf]);
}

function withSelected(choices: readonly string[], selected: string | undefined): readonly string[] {
  return selected === undefined || choices.includes(selected) ? choices : [...choices, selected];
}
