import Archive from 'lucide-react/icons/archive';
import { useCallback, useEffect, useMemo, useRef } from 'react';
import { useParams, useSearchParams } from 'wouter';
import { useArchivedFlags, useFlags } from '../../api/flags.ts';
import { useProject } from '../../api/projects.ts';
import { useCan } from '../../api/session.ts';
import type { FlagRecord, ProjectRecord } from '../../api/types.ts';
import { useStored, useStoredChoice, writeStored } from '../../browser/stored.ts';
import { useMedia } from '../../browser/use-media.ts';
import { CreateButton } from '../../components/button.tsx';
import { classNames } from '../../components/class-names.ts';
import { DialogPart } from '../../components/dialog-part.tsx';
import { lazyPart } from '../../components/lazy-part.ts';
import { GRID, HEADING, Page } from '../../components/page.tsx';
import { PartBoundary } from '../../components/part-boundary.tsx';
import { BarPart, SparePart } from '../../components/parts.tsx';
import { useScreen } from '../../components/restore-place.ts';
import { EmptyState, Problem } from '../../components/screen-states.tsx';
import { isFiltering } from '../../flags/flag-filter.ts';
import { type Choices, useChoices } from '../../flags/flag-tags.ts';
import { type Selection, useSelection, useToggle } from '../../flags/selection.ts';
import { useColumns } from './columns.ts';
import { NoFlags, NoHits } from './empty-list.tsx';
import { FilterBar, NO_FILTER, ViewBar } from './filter-bar.tsx';
import { FlagCards } from './flag-cards.tsx';
import { FlagMarks } from './flag-marks.tsx';
import { FlagTable } from './flag-table.tsx';
import { FlagListSkeleton } from './list-skeleton.tsx';
import { messages } from './messages.ts';
import { useCreatedToast, useMarkedRow, useNewKey } from './new-flag.ts';
import { type ShownFlags, useShownFlags } from './shown-flags.ts';
import type { FlagListProps } from './windowed-rows.ts';

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
  if (project.data === undefined || flags.data === undefined)
    return (
      <FlagListSkeleton
        environments={project.data?.environments.length ?? 3}
        failure={project.failureReason ?? flags.failureReason}
      />
    );
  return <FlagList key={name} project={project.data} flags={flags.data} />;
}

const BulkBar = lazyPart(() => import('./bulk-bar.tsx'), 'BulkBar');
const CreateFlagDialog = lazyPart(() => import('./create-flag-dialog.tsx'), 'CreateFlagDialog');
const CleanUpLink = lazyPart(() => import('./clean-up-link.tsx'), 'CleanUpLink');
const GetStarted = lazyPart(() => import('../get-started/get-started.tsx'), 'GetStarted');

/** Established projects have more flags. */
const FEW_FLAGS = 20;

/** Until it is known whether "Get started" comes, the rows below its place wait: it must not push them from under a click. */
const BELOW_GET_STARTED = '[[data-get-started][hidden]~&]:animate-hold';

const DENSITIES = ['comfortable', 'compact'] as const;

/** At 320 pixels the count stands below the heading: a longer one must not move what follows. */
const NARROWEST = '[@media(max-width:22rem)]:flex-col [@media(max-width:22rem)]:items-start';

/** The list with its search, filters and actions. */
function FlagList({ project, flags }: { project: ProjectRecord; flags: readonly FlagRecord[] }) {
  const { columns } = useColumns(project);
  const shown = useShownFlags(project, flags, columns);
  const { filter, setFilter, favorites } = shown;
  // Archived flags have no switches: clients do not get them.
  const listed = useMemo(
    () => (filter.isArchived ? { ...columns, environments: [], pinned: 0 } : columns),
    [columns, filter.isArchived],
  );
  const choices = useChoices(flags);
  const [density, setDensity] = useStoredChoice('density', DENSITIES, 'comfortable');

  // Active and archived flags have separate selections.
  const [active, archived] = [useSelection(), useSelection()];
  const selection = filter.isArchived ? archived : active;
  const onToggle = useToggle(selection, shown.flags);

  const canEdit = useCan('editor');
  const isAdmin = useCan('admin');
  const [newKey, setNewKey] = useNewKey(shown, canEdit);
  const create = useCallback(() => setNewKey(''), [setNewKey]);
  const [markedRow, mark] = useMarkedRow(shown.flags);
  const onCreated = useCreatedToast(project.name, shown, mark);

  const root = useRef<HTMLDivElement>(null);
  // The place of the list has the button then.
  const isEmpty = flags.length === 0 && !filter.isArchived;
  const [started] = useStored(`get-started.${project.name}`);
  const hasGetStarted = isAdmin && !filter.isArchived && flags.length <= FEW_FLAGS && started !== 'hidden';
  const nothing = (
    <NoFlagsShown project={project.name} shown={shown} onCreate={canEdit ? setNewKey : undefined} />
  );
  const title = filter.isArchived ? messages.archivedFlags : messages.flags;
  useScreen(root, `${title} · ${project.name}`);

  return (
    <div ref={root} className="flex h-full flex-col short:h-auto">
      <div className={classNames(GRID, 'flex flex-col gap-3 pt-4 pb-3')}>
        <div className="flex flex-wrap items-center justify-between gap-x-3 gap-y-2">
          <h1 tabIndex={-1} className={classNames(HEADING, NARROWEST)}>
            {title}
            <span
              className="ml-2 text-sm font-normal whitespace-nowrap text-ink-3 [@media(max-width:22rem)]:ml-0"
              role="status"
            >
              {messages.count(flags.length, shown.flags.length)}
            </span>
          </h1>

          <span className="flex items-center gap-2">
            <SparePart>{!filter.isArchived && <CleanUpLink project={project} flags={flags} />}</SparePart>
            {flags.length > 0 && <ViewBar project={project} density={density} onDensity={setDensity} />}
            {canEdit && !isEmpty && (
              <CreateButton onClick={create} aria-keyshortcuts="n">
                {messages.newFlag}
              </CreateButton>
            )}
          </span>
        </div>

        {(flags.length > 0 || filter.isArchived) && (
          <FilterBar
            project={project}
            filter={filter}
            choices={choices}
            hasFavorites={favorites.size > 0}
            onChange={setFilter}
            environments={listed.environments}
          />
        )}
      </div>

      {hasGetStarted && (
        // The screen works without it, so its failure is not worth a message.
        <PartBoundary
          place="get-started"
          frame={() => isEmpty && nothing}
          fallback={<span data-get-started hidden />}
        >
          <GetStarted project={project} hasFlags={!isEmpty} onCreateFlag={create} />
          {/* Not before it, or it would be moved. */}
          {isEmpty && nothing}
        </PartBoundary>
      )}

      {shown.flags.length === 0 ? (
        !(hasGetStarted && isEmpty) && nothing
      ) : (
        <div className={classNames(GRID, BELOW_GET_STARTED, 'flex min-h-0 flex-1 flex-col sm:pb-4')}>
          <FlagMarks
            project={project}
            flags={flags}
            readTimes={columns.extra.some(({ name }) => name === ':read') ? shown.readTimes : undefined}
          >
            <List
              project={project}
              flags={shown.flags}
              columns={listed}
              density={density}
              words={shown.words}
              sort={shown.sort}
              favorites={favorites}
              onFavorite={shown.toggleFavorite}
              selection={canEdit ? selection : undefined}
              onToggle={onToggle}
              markedRow={markedRow}
            />
          </FlagMarks>
        </div>
      )}

      {selection.keys.size > 0 && (
        <SelectedFlags
          project={project}
          flags={flags}
          shown={shown.flags}
          choices={choices}
          selection={selection}
        />
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

/** Where a table has no room: a narrow window, or one so low that the table, which scrolls by itself, would fill all of it. */
const SMALL = '(max-width: 719px), (max-height: 479px)';

/** A table, or cards in a small window. */
function List({ sort, ...props }: FlagListProps & Pick<ShownFlags, 'sort'>) {
  return useMedia(SMALL) ? <FlagCards {...props} /> : <FlagTable {...props} sort={sort} />;
}

/** Says why there is nothing in the list. */
function NoFlagsShown({
  project,
  shown: { filter, setFilter },
  onCreate,
}: {
  project: string;
  shown: ShownFlags;
  /** Creates a flag with this key; `undefined` where that is not allowed. */
  onCreate: ((key: string) => void) | undefined;
}) {
  if (isFiltering(filter))
    return <NoHits query={filter.query} onClear={() => setFilter(NO_FILTER)} onCreate={onCreate} />;
  if (!filter.isArchived) return <NoFlags project={project} onCreate={onCreate && (() => onCreate(''))} />;
  return (
    <EmptyState icon={Archive} title={messages.empty.noArchived}>
      {messages.empty.whatArchivedAre}
    </EmptyState>
  );
}

/** The actions on the selected flags. The filter may hide some of them. */
function SelectedFlags({
  project,
  flags,
  shown,
  choices,
  selection,
}: {
  project: ProjectRecord;
  flags: readonly FlagRecord[];
  shown: readonly FlagRecord[];
  choices: Choices;
  selection: Selection;
}) {
  const shownKeys = useMemo(() => new Set(shown.map(({ key }) => key)), [shown]);
  const selected = flags.filter(({ key }) => selection.keys.has(key));

  return (
    <BarPart>
      <BulkBar
        project={project}
        known={choices}
        flags={selected}
        hidden={selected.filter(({ key }) => !shownKeys.has(key)).length}
        onDeselectHidden={() => selection.keep(shownKeys)}
        onDone={selection.clear}
      />
    </BarPart>
  );
}
