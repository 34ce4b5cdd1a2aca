import Download from 'lucide-react/icons/download';
import { useEffect, useMemo, useRef, useState } from 'react';
import { type AuditEntryRecord, type AuditFilter, auditPath } from '../../api/audit.ts';
import type { EnvironmentRecord } from '../../api/types.ts';
import { useSearchState } from '../../api/use-search-state.ts';
import { actorText } from '../../components/audit/deed-text.ts';
import { SearchField } from '../../components/search-field.tsx';
import { Select } from '../../components/select.tsx';
import { ACTION_CHOICES } from './action-choices.ts';

/** How long after the last key the list is asked for, in milliseconds. */
const PAUSE_MS = 250;

const ACTION_NAMES = new Map(ACTION_CHOICES);

/** What of the history is shown; kept in the address. The download has the same, and all of it. */
export function HistoryFilters({
  filter,
  environments,
  entries,
}: {
  filter: AuditFilter;
  environments: readonly EnvironmentRecord[];
  /** What is listed: the people of it can be chosen. */
  entries: readonly AuditEntryRecord[];
}) {
  const [, setParams] = useSearchState();
  const { q = '' } = filter;
  const [text, setText] = useState(q);
  const sent = useRef(q);
  useEffect(() => {
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
  const people = useMemo(() => {
    const names = new Set(entries.map(({ actor }) => actor));
    if (filter.actor) names.add(filter.actor);
    return [...names].sort();
  }, [entries, filter.actor]);
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
        <option value="">everybody</option>
        {people.map((actor) => (
          <option key={actor} value={actor}>
            {actorText(actor)}
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
          <option value="">every environment</option>
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
        <option value="">everything</option>
        {deeds.map((action) => (
          <option key={action} value={action}>
            {ACTION_NAMES.get(action) ?? action}
          </option>
        ))}
      </Select>
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

function withChosen(choices: readonly string[], chosen: string | undefined): readonly string[] {
  return chosen === undefined || choices.includes(chosen) ? choices : [...choices, chosen];
}
