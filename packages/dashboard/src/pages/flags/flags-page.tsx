import Archive from 'lucide-react/icons/archive';
import Plus from 'lucide-react/icons/plus';
import {
  useCallback,
  useDeferredValue,
  useEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react';
import { useLocation, useParams, useSearchParams } from 'wouter';
import { isRefusal } from '../../api/api-error.ts';
import { useArchivedFlags, useFlags } from '../../api/flags.ts';
import { useProject } from '../../api/projects.ts';
import { useCan } from '../../api/session.ts';
import type { FlagRecord, ProjectRecord } from '../../api/types.ts';
import { useSearchState } from '../../api/use-search-state.ts';
import { Button } from '../../components/button.tsx';
import { classNames } from '../../components/class-names.ts';
import { GRID, HEADING, Page, ScreenSkeleton, useScreen } from '../../components/page.tsx';
import { EmptyState, Problem } from '../../components/screen-states.tsx';
import { toast } from '../../components/toasts.tsx';
import { useShortcut } from '../../components/use-shortcut.ts';
import { useEnvironmentFilter } from '../../shell/environment-filter.tsx';
import { links } from '../../shell/links.ts';
import { useStoredChoice, writeStored } from '../../shell/preferences.ts';
import { BulkBar, useSelection } from './bulk-bar.tsx';
import { CreateFlagDialog } from './create-flag-dialog.tsx';
import { NoFlags, NoHits, NoProject } from './empty-list.tsx';
import { FilterBar, useChoices } from './filter-bar.tsx';
import { FlagCards } from './flag-cards.tsx';
import { filterFlags, isFiltering, readFilter } from './flag-filter.ts';
import { FlagTable } from './flag-table.tsx';
import { messages } from './messages.ts';
import { HIGHLIGHT_MS } from './state-cell.tsx';

/** A project's flags with their state in each environment. */
export function FlagsPage() {
  const { project: name = '' } = useParams<{ project: string }>();
  const [params] = useSearchParams();
  const isArchived = params.has('archived');
  const project = useProject(name);
  const active = useFlags(name);
  const archived = useArchivedFlags(name, { enabled: isArchived });
  const flags = isArchived ? archived : active;
  useEffect(() => {
    if (project.data !== undefined) writeStored('project', name);
  }, [name, project.data]);
  const error = project.error ?? flags.error;
  if (error !== null && (project.data === undefined || flags.data === undefined)) {
    const retry = () => void Promise.all([project.refetch(), flags.refetch()]);
    if (isRefusal(error, 'project_not_found')) return <NoProject name={name} />;
    return (
      <Page title={messages.flags}>
        <Problem error={error} onRetry={retry} />
      </Page>
    );
  }
  if (project.data === undefined || flags.data === undefined) return <ScreenSkeleton />;
  return <FlagList key={name} project={project.data} flags={flags.data} />;
}

const { created } = messages;

const DENSITIES = ['comfortable', 'compact'] as const;

/** The list with its search, filters and actions. */
function FlagList({ project, flags }: { project: ProjectRecord; flags: readonly FlagRecord[] }) {
  const [, navigate] = useLocation();
  const [params, setParams] = useSearchState();
  const filter = useMemo(() => readFilter(params), [params]);
  // Typing comes first; the rows follow as soon as there is time.
  const shownFilter = useDeferredValue(filter);
  const shown = useMemo(() => filterFlags(flags, shownFilter, Date.now()), [flags, shownFilter]);
  const [density, setDensity] = useStoredChoice('density', DENSITIES, 'comfortable');
  const [newKey, setNewKey] = useState<string>();
  const [only] = useEnvironmentFilter(project.name);
  const listed = useMemo(
    () => (only === undefined ? project : { ...project, environments: [only] }),
    [project, only],
  );
  const canEdit = useCan('editor');
  const isNarrow = useMedia('(max-width: 719px)');
  // Active and archived flags have separate selections.
  const [active, archived] = [useSelection(), useSelection()];
  const selection = filter.isArchived ? archived : active;
  const choices = useChoices(flags);
  const create = useCallback(() => setNewKey(''), []);
  const asked = params.get('new');
  useEffect(() => {
    // The command palette asks through the address, once.
    if (asked === null || !canEdit) return;
    setNewKey(asked);
    setParams({ new: '' });
  }, [asked, canEdit, setParams]);
  const clear = () => setParams({ q: '', state: '', tag: '', owner: '', changed: '' });
  const [markedKey, setMarkedKey] = useState<string>();
  const markedRow = markedKey === undefined ? -1 : shown.findIndex(({ key }) => key === markedKey);
  useEffect(() => {
    if (markedRow === -1) return;
    const timer = setTimeout(() => setMarkedKey(undefined), HIGHLIGHT_MS);
    return () => clearTimeout(timer);
  }, [markedRow]);

  function onCreated(flag: FlagRecord): void {
    const { key } = flag;
    const isHidden = filter.isArchived || filterFlags([flag], filter, Date.now()).length === 0;
    if (!isHidden) setMarkedKey(key);
    const open = () => navigate(links.flag(project.name, key));
    const show = () => {
      setMarkedKey(key);
      navigate(links.flags(project.name));
    };
    toast({
      kind: 'done',
      title: created.done(key),
      ...(isHidden ? { detail: created.hidden } : {}),
      action: isHidden ? { label: created.show, run: show } : { label: created.open, run: open },
    });
  }

  useShortcut(
    'n',
    useCallback(() => canEdit && setNewKey(''), [canEdit]),
  );
  const List = isNarrow ? FlagCards : FlagTable;
  const shownKeys = useMemo(() => new Set(shown.map(({ key }) => key)), [shown]);
  const title = filter.isArchived ? messages.archivedFlags : messages.flags;
  const root = useRef<HTMLDivElement>(null);
  useScreen(root, `${title} · ${project.name}`);
  return (
    <div ref={root} className="flex h-full flex-col">
      <div className={classNames(GRID, 'flex flex-col gap-3 pt-4 pb-3')}>
        <div className="flex items-center justify-between gap-3">
          <h1 tabIndex={-1} className={HEADING}>
            {title}{' '}
            <span className="ml-1 text-sm font-normal text-ink-3" role="status">
              {messages.count(flags.length, shown.length)}
            </span>
          </h1>
          {canEdit && (
            <Button kind="primary" onClick={create} aria-keyshortcuts="n">
              <Plus size={15} aria-hidden /> {messages.newFlag}
            </Button>
          )}
        </div>
        {(flags.length > 0 || filter.isArchived) && (
          <FilterBar
            {...{ filter, choices, density }}
            onChange={setParams}
            environments={project.environments}
            onDensity={setDensity}
          />
        )}
      </div>
      {shown.length > 0 ? (
        <List
          {...{ density, markedRow }}
          project={listed}
          flags={shown}
          selection={canEdit ? selection : undefined}
        />
      ) : isFiltering(filter) ? (
        <NoHits query={filter.query} onClear={clear} onCreate={canEdit ? setNewKey : undefined} />
      ) : filter.isArchived ? (
        <EmptyState icon={<Archive size={20} aria-hidden />} title={messages.empty.noArchived}>
          {messages.empty.whatArchivedAre}
        </EmptyState>
      ) : (
        <NoFlags project={project.name} onCreate={canEdit ? create : undefined} />
      )}
      {selection.keys.size > 0 && (
        <BulkBar
          project={project}
          flags={flags.filter(({ key }) => selection.keys.has(key))}
          hidden={flags.filter(({ key }) => selection.keys.has(key) && !shownKeys.has(key)).length}
          onDeselectHidden={() => selection.keep(shownKeys)}
          onDone={selection.clear}
        />
      )}
      {newKey !== undefined && (
        <CreateFlagDialog
          project={project}
          flags={flags}
          initialKey={newKey}
          onClose={() => setNewKey(undefined)}
          onCreated={onCreated}
        />
      )}
    </div>
  );
}

/** Whether a media query holds, as `(max-width: 719px)`. */
function useMedia(query: string): boolean {
  return useSyncExternalStore(
    useCallback(
      (listener: () => void) => {
        const list = matchMedia(query);
        list.addEventListener('change', listener);
        return () => list.removeEventListener('change', listener);
      },
      [query],
    ),
    () => matchMedia(query).matches,
  );
}
