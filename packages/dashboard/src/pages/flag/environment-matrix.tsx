import ChevronRight from 'lucide-react/icons/chevron-right';
import { memo, type ReactNode, useCallback, useId, useState } from 'react';
import type {
  EnvironmentRecord,
  FlagRecord,
  FlagState,
  ProjectRecord,
  StateRecord,
} from '../../api/types.ts';
import { useSearchState } from '../../browser/use-search-state.ts';
import { useReadOnlyReason } from '../../changes/change-guards.tsx';
import { useStateSwitch } from '../../changes/state-switch.ts';
import { Author, Badge, ENVIRONMENT_FILL, EnvironmentBadge, WriteMark } from '../../components/badges.tsx';
import { Button } from '../../components/button.tsx';
import { classNames } from '../../components/class-names.ts';
import { INPUT } from '../../components/field.tsx';
import { valuePreview } from '../../components/state-summary.tsx';
import { Switch } from '../../components/switch.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';
import { RowPlan } from '../../flags/rollouts/row-plan.tsx';
import { messages } from './messages.tsx';

const words = messages.matrix;

/** Projects with more environments show only some of them at first, and a field to find one. */
const FEW = 20;
const FEW_PROTECTED = 5;

/** With at most as many environments, all are in view although the first is expanded by default. */
const FULL_VIEW = 4;

/** The member of the address that names the expanded environment, and its value for none. */
const MEMBER = 'env';
const NONE = '-';

/**
 * A flag's environments, one row each: switch, rollout, value and last change. One is expanded to edit it, named in the
 * address. A row with unsaved changes keeps its editor while another one is expanded.
 */
export function EnvironmentMatrix({
  project,
  flag,
  environments,
  editor,
}: {
  project: ProjectRecord;
  flag: FlagRecord;
  /** The environments that the screen is limited to. */
  environments: readonly EnvironmentRecord[];
  /** The editor of an environment. */
  editor: (environment: EnvironmentRecord, editing: EditorProps) => ReactNode;
}) {
  const id = useId();
  const [params, setParams] = useSearchState();
  const [query, setQuery] = useState('');
  const [isWhole, setWhole] = useState(false);
  const [dirty, setDirty] = useState<ReadonlySet<string>>(new Set());
  const readOnlyReason = useReadOnlyReason();
  const isArchived = flag.archivedAt !== undefined;
  const named = params.get(MEMBER) ?? undefined;
  const byDefault = environments.length <= FULL_VIEW ? environments[0]?.name : undefined;
  const open =
    named === NONE ? undefined : (environments.find(({ name }) => name === named)?.name ?? byDefault);
  const toggle = useCallback(
    (name: string, isOpen: boolean) => setParams({ [MEMBER]: isOpen ? name : NONE }),
    [setParams],
  );
  const onDirty = useCallback((name: string, isDirty: boolean) => {
    setDirty((before) => {
      if (before.has(name) === isDirty) return before;
      const next = new Set(before);
      if (isDirty) next.add(name);
      else next.delete(name);
      return next;
    });
  }, []);

  const listed = project.environments.filter(
    (environment) => dirty.has(environment.name) || (!isArchived && environments.includes(environment)),
  );
  const isLong = listed.length > FEW;
  const wanted = query.trim().toLowerCase();
  const found = listed.filter(({ name }) => wanted === '' || !isLong || name.toLowerCase().includes(wanted));
  const shown =
    isLong && wanted === '' && !isWhole ? firstOf(found, (name) => name === open || dirty.has(name)) : found;
  if (listed.length === 0) return null;
  return (
    <section aria-labelledby={id} className="@container">
      <div className="mb-2 flex min-h-8 flex-wrap items-center gap-x-3 gap-y-1">
        <h2 id={id} className="text-base font-semibold">
          {words.title} <span className="font-normal text-ink-3">{listed.length}</span>
        </h2>
        {isLong && (
          <input
            type="search"
            aria-label={words.find}
            placeholder={words.find}
            className={classNames(INPUT, 'ml-auto max-w-64')}
            value={query}
            onChange={(event) => setQuery(event.target.value)}
          />
        )}
      </div>
      <div className="overflow-hidden rounded-lg border border-line bg-surface">
        <p
          aria-hidden
          className={classNames('hidden h-8 px-4 text-xs font-medium text-ink-3 @3xl:grid', COLUMNS)}
        >
          {words.heads.map((head) => (
            <span key={head}>{head}</span>
          ))}
        </p>
        <ul aria-label={words.title}>
          {shown.map((environment) => {
            const { name } = environment;
            const obstacle = isArchived ? words.archived : readOnlyReason(environment);
            const isOpen = name === open || isArchived;
            const isDirty = dirty.has(name);

            return (
              <EnvironmentRow
                key={name}
                environment={environment}
                obstacle={obstacle}
                isOpen={isOpen}
                isDirty={isDirty}
                project={project.name}
                flagKey={flag.key}
                record={flag.environments[name]}
                onToggle={toggle}
              >
                {(isOpen || isDirty) && editor(environment, { obstacle, onDirty })}
              </EnvironmentRow>
            );
          })}
        </ul>
        {found.length === 0 && <p className="px-4 py-6 text-center text-ink-2">{words.noMatch}</p>}
        {shown.length < found.length && (
          <div className="border-t border-line p-2 text-center">
            <Button kind="quiet" onClick={() => setWhole(true)}>
              {words.showAll(found.length)}
            </Button>
          </div>
        )}
      </div>
    </section>
  );
}

/** The props of an editor that the matrix supplies. */
interface EditorProps {
  /** Why the state cannot be changed. */
  readonly obstacle: string | undefined;
  readonly onDirty: (name: string, isDirty: boolean) => void;
}

/** The first of many environments, the first protected ones, and those that are kept. In their order. */
function firstOf(
  environments: readonly EnvironmentRecord[],
  isKept: (name: string) => boolean,
): readonly EnvironmentRecord[] {
  const guarded = new Set(environments.filter((each) => each.protected).slice(0, FEW_PROTECTED));
  return environments.filter((each, index) => index < FEW || guarded.has(each) || isKept(each.name));
}

/** The columns of a row where there is space; otherwise a row has two lines. */
const COLUMNS =
  '@3xl:grid-cols-[minmax(10rem,1.2fr)_6rem_minmax(6rem,9rem)_minmax(6rem,2fr)_minmax(9rem,1.2fr)] items-center gap-x-3';

/** It gets no more of the flag than its own state, so that a change elsewhere does not render it again. */
const EnvironmentRow = memo(function EnvironmentRow({
  project,
  flagKey,
  environment,
  record,
  obstacle,
  isOpen,
  isDirty,
  onToggle,
  children,
}: {
  project: string;
  flagKey: string;
  environment: EnvironmentRecord;
  record: StateRecord | undefined;
  obstacle: string | undefined;
  isOpen: boolean;
  isDirty: boolean;
  onToggle: (name: string, isOpen: boolean) => void;
  /** The editor; without one the row is collapsed. */
  children: ReactNode;
}) {
  const id = useId();
  const { name } = environment;
  const { status, isForeign, flip } = useStateSwitch({ project, environment, flagKey, record });
  const state = record?.state;

  return (
    <li
      data-environment={name}
      data-news={isForeign || undefined}
      className={classNames(
        'relative border-t border-line first:border-t-0 @3xl:first:border-t',
        isForeign && 'animate-flash',
        // Rows out of view cost no layout.
        !isOpen && '[contain-intrinsic-size:auto_44px] [content-visibility:auto]',
      )}
    >
      {/* A region only while it is expanded: hundreds of landmarks would be in the way. */}
      <div {...(isOpen ? { role: 'region', 'aria-label': name } : {})}>
        {isOpen && (
          <div
            aria-hidden
            className={classNames('absolute inset-y-0 left-0 w-1', ENVIRONMENT_FILL[environment.color])}
          />
        )}
        <div
          className={classNames(
            'relative grid min-h-11 grid-cols-[minmax(0,1fr)_auto] gap-y-1 px-4 py-1.5 hover:bg-hover',
            COLUMNS,
          )}
        >
          <h3 className="flex min-w-0 items-center gap-2">
            <button
              type="button"
              aria-expanded={isOpen}
              aria-controls={isOpen ? id : undefined}
              // Its box is the whole row.
              className="flex min-h-8 min-w-0 items-center gap-1.5 font-medium after:absolute after:inset-0 focus-visible:outline-none focus-visible:after:outline-2 focus-visible:after:-outline-offset-2 focus-visible:after:outline-accent"
              onClick={() => onToggle(name, !isOpen)}
            >
              <ChevronRight
                size={14}
                aria-hidden
                className={classNames('shrink-0 text-ink-3 transition-transform', isOpen && 'rotate-90')}
              />
              <EnvironmentBadge environment={environment} />
            </button>
            {isDirty && !isOpen && <Badge kind="warn">{words.unsaved}</Badge>}
          </h3>
          <span
            className="relative z-1 flex items-center gap-2 justify-self-end @3xl:justify-self-start"
            title={obstacle}
          >
            <Switch
              label={`${flagKey} in ${name}`}
              checked={state?.enabled ?? false}
              disabled={obstacle !== undefined}
              aria-busy={status === 'saving'}
              onChange={(event) => flip(event.target.checked)}
            />
            <span className={classNames('whitespace-nowrap', state?.enabled ? 'font-medium' : 'text-ink-3')}>
              {state === undefined ? words.notSet : state.enabled ? words.on : words.off}
            </span>
            <WriteMark status={status} />
          </span>
          {/* On a narrow page these share the second line. */}
          <div className="col-span-2 flex min-w-0 flex-wrap items-center gap-x-3 gap-y-0.5 pl-5 @3xl:contents">
            {state !== undefined && (
              <RolloutBar state={state}>
                <RowPlan project={project} flagKey={flagKey} environment={name} />
              </RolloutBar>
            )}
            {state?.value !== undefined && (
              <code
                className="min-w-0 flex-1 basis-24 truncate font-mono text-xs text-ink-2 @3xl:col-start-4"
                title={valuePreview(state.value, 300)}
              >
                {valuePreview(state.value, 80)}
              </code>
            )}
            <p className="min-w-0 truncate text-xs text-ink-3 @3xl:col-start-5">
              {/* The editor says the same, and more. */}
              {record !== undefined && !isOpen && (
                <>
                  <TimeAgo at={record.updatedAt} />
                  {record.updatedBy !== undefined && (
                    <>
                      {' '}
                      {words.by} <Author actor={record.updatedBy} />
                    </>
                  )}
                </>
              )}
            </p>
          </div>
        </div>
        {children !== false && (
          <div id={id} hidden={!isOpen} className="border-t border-line">
            {children}
          </div>
        )}
      </div>
    </li>
  );
});

/** The share of targeting keys that get the flag, as a bar and in words. Without a bar while the flag is off. */
function RolloutBar({ state: { enabled, rolloutPct }, children }: { state: FlagState; children: ReactNode }) {
  const share = rolloutPct === undefined ? words.everyone : `${rolloutPct} %`;
  return (
    <span
      className={classNames(
        'flex min-w-0 items-center gap-2 text-xs whitespace-nowrap @3xl:col-start-3',
        enabled ? 'text-ink' : 'text-ink-3',
      )}
    >
      {enabled && (
        <span
          aria-hidden
          className="h-1.5 w-12 shrink-0 overflow-hidden rounded-full bg-line forced-colors:border"
        >
          <span
            className="block h-full bg-accent forced-color-adjust-none"
            style={{ width: `${rolloutPct ?? 100}%` }}
          />
        </span>
      )}
      {enabled ? share : words.whenOn(share)}
      {children}
    </span>
  );
}
