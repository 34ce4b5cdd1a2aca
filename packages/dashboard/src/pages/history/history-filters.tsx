import Download from 'lucide-react/icons/download';
import { useEffect, useMemo, useRef, useState } from 'react';
import { type AuditEntryRecord, type AuditFilter, auditPath } from '../../api/audit.ts';
import { useOperators, usePersonName } from '../../api/operators.ts';
import { useCan } from '../../api/session.ts';
import { useTokens } from '../../api/tokens.ts';
import type { EnvironmentRecord } from '../../api/types.ts';
import { useSearchState } from '../../api/use-search-state.ts';
import { CONTROL } from '../../components/field.tsx';
import { SearchField } from '../../components/list-filter.tsx';
import { Select } from '../../components/select.tsx';
import { ACTION_CHOICES } from './history-filter.ts';

/** How long after the last key the list is asked for, in milliseconds. */
const PAUSE_MS = 250;

/** The days that a history can be narrowed to, as the address names them; both are part of it. */
const DAYS = [
  { name: 'from', label: 'From day', text: 'From' },
  { name: 'until', label: 'Until day', text: 'until' },
] as const;

const ACTION_NAMES = new Map(ACTION_CHOICES);

/** What of the history is shown; kept in the address. The download has the same, and all of it. */
export function HistoryFilters({
  filter,
  environments,
  entries,
}: {
  filter: AuditFilter;
  environments: readonly EnvironmentRecord[];
  /** What is listed: its authors can be chosen too, such as people who were removed. */
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
    // The address was changed by something else, as a link to the whole history.
    if (q === sent.current) return;
    sent.current = q;
    setText(q);
  }, [q]);
  const authors = useAuthors(entries, filter.actor);
  // What narrows the list can always be seen and taken away, also when it is gone or was never there.
  const places = withChosen(
    environments.map(({ name }) => name),
    filter.environment,
  );
  const deeds = withChosen(
    ACTION_CHOICES.map(([action]) => action),
    filter.action,
  );
  return (
    <search className="mb-3 flex flex-wrap items-center gap-2">
      <SearchField
        label="Flag, person or note"
        className="w-56 max-sm:w-full"
        value={text}
        onChange={setText}
      />
      <Select
        label="Person"
        className="max-w-48"
        value={filter.actor ?? ''}
        onChange={(event) => setParams({ actor: event.target.value })}
      >
        <option value="">Anyone</option>
        {authors.map(({ actor, name }) => (
          <option key={actor} value={actor}>
            {name}
          </option>
        ))}
      </Select>
      {places.length > 0 && (
        <Select
          label="Environment"
          className="max-w-44"
          value={filter.environment ?? ''}
          onChange={(event) => setParams({ environment: event.target.value })}
        >
          <option value="">Any environment</option>
          {places.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </Select>
      )}
      <Select
        label="What was done"
        className="max-w-44"
        value={filter.action ?? ''}
        onChange={(event) => setParams({ action: event.target.value })}
      >
        <option value="">Any action</option>
        {deeds.map((action) => (
          <option key={action} value={action}>
            {ACTION_NAMES.get(action) ?? action}
          </option>
        ))}
      </Select>
      <span className="flex flex-wrap items-center gap-2">
        {DAYS.map(({ name, label, text }) => (
          <label key={name} className="flex items-center gap-1.5 text-ink-2">
            {text}
            <input
              type="date"
              aria-label={label}
              className={CONTROL}
              value={params.get(name) ?? ''}
              onChange={(event) => setParams({ [name]: event.target.value })}
            />
          </label>
        ))}
      </span>
      <a
        href={auditPath(filter, { format: 'ndjson' })}
        download
        className="ml-auto inline-flex h-8 items-center gap-1.5 rounded-md px-2 text-ink-2 hover:bg-hover hover:text-ink"
      >
        <Download size={14} aria-hidden /> Export
        <span className="sr-only">what is listed, as JSON lines</span>
      </a>
    </search>
  );
}

/** Everyone who can have made a change, by name: people, access tokens, and whoever is listed or chosen. */
function useAuthors(
  entries: readonly AuditEntryRecord[],
  chosen: string | undefined,
): readonly { readonly actor: string; readonly name: string }[] {
  const { data: operators } = useOperators();
  const { data: tokens } = useTokens({ enabled: useCan('admin') });
  const nameOf = usePersonName();
  // Those of a list that is narrowed to one person since can still be chosen.
  const [seen] = useState(() => new Set<string>());
  return useMemo(() => {
    for (const { actor } of entries) seen.add(actor);
    const actors = new Set([
      ...(operators ?? []).map(({ email }) => `operator:${email}`),
      ...(tokens ?? []).map(({ name }) => `token:${name}`),
      ...seen,
      ...(chosen === undefined ? [] : [chosen]),
    ]);
    const named = [...actors].map((actor) => ({ actor, ...nameOf(actor) }));
    const isShared = (name: string) => named.filter((each) => each.name === name).length > 1;
    return named
      .map(({ actor, name, detail }) => ({
        actor,
        name: detail !== undefined && isShared(name) ? `${name} (${detail})` : name,
      }))
      .sort((one, other) => one.name.localeCompare(other.name));
  }, [operators, tokens, entries, seen, chosen, nameOf]);
}

function withChosen(choices: readonly string[], chosen: string | undefined): readonly string[] {
  return chosen === undefined || choices.includes(chosen) ? choices : [...choices, chosen];
}
