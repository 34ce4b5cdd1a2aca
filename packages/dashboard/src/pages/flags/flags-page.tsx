import Archive from 'lucide-react/icons/archive';
import {
  lazy,
  type ReactNode,
  Suspense,
  useCallback,
  useDeferredValue,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react';
import { useLocation, useParams, useSearchParams } from 'wouter';
import { useArchivedFlags, useFlags } from '../../api/flags.ts';
import { useProject } from '../../api/projects.ts';
import { useCan, useOperator } from '../../api/session.ts';
import type { FlagRecord, LastReads, ProjectRecord } from '../../api/types.ts';
import { isUnread, useLastReads } from '../../api/usage.ts';
import { links } from '../../browser/links.ts';
import { useStoredChoice, writeStored } from '../../browser/stored.ts';
import { useSearchState } from '../../browser/use-search-state.ts';
import { useShortcut } from '../../browser/use-shortcut.ts';
import { HIGHLIGHT_MS } from '../../changes/state-switch.ts';
import { CreateButton } from '../../components/button.tsx';
import { classNames } from '../../components/class-names.ts';
import { DialogPart } from '../../components/dialog-part.tsx';
import { GRID, HEADING, Page, ScreenSkeleton, useScreen } from '../../components/page.tsx';
import { PartBoundary } from '../../components/part-boundary.tsx';
import { EmptyState, Problem } from '../../components/screen-states.tsx';
import type { Sort } from '../../components/sort.ts';
import { toast } from '../../components/toasts.tsx';
import {
  type FlagFilter,
  filterFlags,
  isFiltering,
  readFilter,
  STALE_DAYS,
  staleDays,
  wordsOf,
} from '../../flags/flag-filter.ts';
import { useChoices } from '../../flags/flag-tags.ts';
import { useColumns } from './columns.ts';
import { NoFlags, NoHits } from './empty-list.tsx';
import { useFavorites } from './favorites.ts';
import { FilterBar, NO_FILTER, ViewBar } from './filter-bar.tsx';
import { FlagCards } from './flag-cards.tsx';
import { StaleFlags, UnreadFlags } from './flag-name.tsx';
import { FlagTable } from './flag-table.tsx';
import { messages } from './messages.ts';
import { type Selection, useSelection } from './selection.ts';
import { PlanMarks } from './state-cell.tsx';

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
    return (
      <Page title={messages.flags}>
        <Problem error={error} onRetry={retry} />
      </Page>
    );
  }
  if (project.data === undefined || flags.data === undefined) return <ScreenSkeleton />;
  return <FlagList key={name} project={project.data} flags={flags.data} />;
}

const BulkBar = lazy(async () => ({ default: (await import('./bulk-bar.tsx')).BulkBar }));
const CreateFlagDialog = lazy(async () => ({
  default: (await import('./create-flag-dialog.tsx')).CreateFlagDialog,
}));

/** Established projects have more flags. */
const FEW_FLAGS = 20;

const GetStarted = lazy(async () => ({
  default: (await import('../get-started/get-started.tsx')).GetStarted,
}));

const { created } = messages;

const NO_MARKS: ReadonlyMap<string, ReactNode> = new Map();

const ReadPlanMarks = lazy(async () => {
  const part = await import('../../flags/rollouts/plan-marks.tsx').catch(() => undefined);
  return { default: part?.ReadPlanMarks ?? (() => null) };
});

const DENSITIES = ['comfortable', 'compact'] as const;

/** The list with its search, filters and actions. */
function FlagList({ project, flags }: { project: ProjectRecord; flags: readonly FlagRecord[] }) {
  const [, navigate] = useLocation();
  const [params, setParams] = useSearchState();
  const filter = useMemo(() => readFilter(params), [params]);
  const [favorites, toggleFavorite] = useFavorites(project.name);
  const { email, name } = useOperator();
  const environments = project.environments.length;
  const person = useMemo(
    () => ({ favorites, owners: [email, name], environments }),
    [favorites, email, name, environments],
  );
  // Typing comes first; the rows follow as soon as there is time.
  const shownFilter = useDeferredValue(filter);
  const shown = useMemo(
    () => filterFlags(flags, shownFilter, Date.now(), person),
    [flags, shownFilter, person],
  );
  const words = useMemo(() => wordsOf(shownFilter.query), [shownFilter.query]);
  const [density, setDensity] = useStoredChoice('density', DENSITIES, 'comfortable');
  const [newKey, setNewKey] = useState<string>();
  const { columns } = useColumns(project);
  const canEdit = useCan('editor');
  const isAdmin = useCan('admin');
  const isNarrow = useMedia('(max-width: 719px)');
  // Active and archived flags have separate selections.
  const [active, archived] = [useSelection(), useSelection()];
  const selection = filter.isArchived ? archived : active;
  const onToggle = useToggle(selection, shown);
  const choices = useChoices(flags);
  const create = useCallback(() => setNewKey(''), []);
  const asked = params.get('new');
  useEffect(() => {
    // The command palette asks through the address, once.
    if (asked === null || !canEdit) return;
    setNewKey(asked);
    setParams({ new: '' });
  }, [asked, canEdit, setParams]);
  const [markedKey, setMarkedKey] = useState<string>();
  const markedRow = markedKey === undefined ? -1 : shown.findIndex(({ key }) => key === markedKey);
  useEffect(() => {
    if (markedRow === -1) return;
    const timer = setTimeout(() => setMarkedKey(undefined), HIGHLIGHT_MS);
    return () => clearTimeout(timer);
  }, [markedRow]);

  function onCreated(flag: FlagRecord): void {
    const { key } = flag;
    const isHidden = filter.isArchived || filterFlags([flag], filter, Date.now(), person).length === 0;
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
  const shownKeys = useMemo(() => new Set(shown.map(({ key }) => key)), [shown]);
  const title = filter.isArchived ? messages.archivedFlags : messages.flags;
  const { data: lastReads } = useLastReads(project);
  const unread = useUnread(flags, lastReads);
  const [planMarks, setPlanMarks] = useState<ReadonlyMap<string, ReactNode>>(NO_MARKS);
  const onPlanMarks = useCallback(
    (marks: ReadonlyMap<string, ReactNode>) =>
      // None instead of none would render every cell again.
      setPlanMarks((known) => (known.size + marks.size === 0 ? known : marks)),
    [],
  );
  const stale = useStale(flags, environments);
  const root = useRef<HTMLDivElement>(null);
  useScreen(root, `${title} · ${project.name}`);
  const sort = useMemo(() => sortOf(filter.sort, setParams), [filter.sort, setParams]);
  const list = {
    ...{ project, columns, density, words, favorites, markedRow, onToggle },
    flags: shown,
    onFavorite: toggleFavorite,
    selection: canEdit ? selection : undefined,
  };
  return (
    <div ref={root} className="flex h-full flex-col">
      <div className={classNames(GRID, 'flex flex-col gap-3 pt-4 pb-3')}>
        <div className="flex items-center justify-between gap-3">
          <h1 tabIndex={-1} className={HEADING}>
            {title}
            <span className="ml-2 text-sm font-normal text-ink-3" role="status">
              {messages.count(flags.length, shown.length)}
            </span>
          </h1>
          <span className="flex items-center gap-2">
            {flags.length > 0 && <ViewBar project={project} density={density} onDensity={setDensity} />}
            {canEdit && (
              <CreateButton onClick={create} aria-keyshortcuts="n">
                {messages.newFlag}
              </CreateButton>
            )}
          </span>
        </div>
        {(flags.length > 0 || filter.isArchived) && (
          <FilterBar
            {...{ project, filter, choices }}
            hasFavorites={favorites.size > 0}
            onChange={setParams}
            environments={columns.environments}
          />
        )}
      </div>
      {isAdmin && !filter.isArchived && flags.length <= FEW_FLAGS && (
        // The screen works without it, so its failure is not worth a message.
        <PartBoundary place="get-started" frame={() => null}>
          <Suspense fallback={null}>
            <GetStarted project={project} hasFlags={flags.length > 0} onCreateFlag={create} />
          </Suspense>
        </PartBoundary>
      )}
      {shown.length > 0 ? (
        <div className={classNames(GRID, 'flex min-h-0 flex-1 flex-col sm:pb-4')}>
          <PlanMarks value={planMarks}>
            <UnreadFlags value={unread}>
              <StaleFlags value={stale}>
                {isNarrow ? <FlagCards {...list} /> : <FlagTable {...list} sort={sort} />}
              </StaleFlags>
            </UnreadFlags>
          </PlanMarks>
        </div>
      ) : isFiltering(filter) ? (
        <NoHits
          query={filter.query}
          onClear={() => setParams(NO_FILTER)}
          onCreate={canEdit ? setNewKey : undefined}
        />
      ) : filter.isArchived ? (
        <EmptyState icon={<Archive size={20} aria-hidden />} title={messages.empty.noArchived}>
          {messages.empty.whatArchivedAre}
        </EmptyState>
      ) : (
        <NoFlags project={project.name} onCreate={canEdit ? create : undefined} />
      )}
      <Suspense fallback={null}>
        <ReadPlanMarks project={project.name} onRead={onPlanMarks} />
      </Suspense>
      {selection.keys.size > 0 && (
        <PartBoundary
          place={messages.bulk.label}
          frame={(problem, content) => (
            <section className="shrink-0 border-t border-line p-3">
              {problem} {content}
            </section>
          )}
        >
          <Suspense fallback={<div className="h-12 shrink-0 border-t border-line bg-raised" />}>
            <BulkBar
              project={project}
              known={choices}
              flags={flags.filter(({ key }) => selection.keys.has(key))}
              hidden={flags.filter(({ key }) => selection.keys.has(key) && !shownKeys.has(key)).length}
              onDeselectHidden={() => selection.keep(shownKeys)}
              onDone={selection.clear}
            />
          </Suspense>
        </PartBoundary>
      )}
      {newKey !== undefined && (
        <DialogPart title={messages.newFlag} onClose={() => setNewKey(undefined)}>
          <CreateFlagDialog
            project={project}
            flags={flags}
            initialKey={newKey}
            onClose={() => setNewKey(undefined)}
            onCreated={onCreated}
          />
        </DialogPart>
      )}
    </div>
  );
}

// Both are the same object until their content changes, so that a change of one flag does not render the others.

/** The keys of the flags that are in use and were not read for long. */
function useUnread(flags: readonly FlagRecord[], lastReads: LastReads | undefined): ReadonlySet<string> {
  const text = useMemo(() => {
    if (lastReads === undefined) return '[]';
    const isStale = (flag: FlagRecord) =>
      flag.archivedAt === undefined && isUnread(flag, lastReads, Date.now());
    return JSON.stringify(flags.filter(isStale).map(({ key }) => key));
  }, [flags, lastReads]);
  return useMemo(() => new Set(JSON.parse(text) as string[]), [text]);
}

/** For how many days flags are unchanged and the same everywhere, by key, from 30 on. */
function useStale(flags: readonly FlagRecord[], environments: number): ReadonlyMap<string, number> {
  const text = useMemo(() => {
    const days = flags.map((flag) => [flag.key, staleDays(flag, environments, Date.now())] as const);
    return JSON.stringify(days.filter(([, count]) => count >= STALE_DAYS.stale30));
  }, [flags, environments]);
  return useMemo(() => new Map(JSON.parse(text) as [string, number][]), [text]);
}

/** A stable function that toggles a flag, or with Shift selects all from the one that was toggled before. */
function useToggle(
  { toggle }: Selection,
  shown: readonly FlagRecord[],
): (key: string, isRange: boolean) => void {
  const last = useRef<string>(undefined);
  const listed = useRef(shown);
  useLayoutEffect(() => {
    listed.current = shown;
  });
  return useCallback(
    (key, isRange) => {
      const keys = listed.current.map((flag) => flag.key);
      const [from, to] = [keys.indexOf(last.current ?? ''), keys.indexOf(key)];
      const isWhole = isRange && from !== -1 && to !== -1;
      toggle(key, isWhole ? keys.slice(Math.min(from, to), Math.max(from, to) + 1) : undefined);
      last.current = key;
    },
    [toggle],
  );
}

/** The order of the list as its heads know it: the newest change is the first when that head is pressed. */
function sortOf(sort: FlagFilter['sort'], setParams: (members: { sort: string }) => void): Sort {
  const [by, isReversed] = ORDERS[sort];
  const next: Readonly<Record<string, string>> = {
    key: sort === 'key' ? '-key' : '',
    changed: sort === 'changed' ? '-changed' : sort === '-changed' ? '' : 'changed',
  };
  return { by, isReversed, toggle: (column) => setParams({ sort: next[column] ?? '' }) };
}

const ORDERS: Readonly<Record<FlagFilter['sort'], readonly [column: string, isReversed: boolean]>> = {
  key: ['key', false],
  '-key': ['key', true],
  changed: ['changed', true],
  '-changed': ['changed', false],
  created: ['', false],
};

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
