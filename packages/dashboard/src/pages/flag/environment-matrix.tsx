import { type ReactNode, useCallback, useId, useState } from 'react';
import type { EnvironmentRecord, FlagRecord, ProjectRecord } from '../../api/types.ts';
import { useSearchState } from '../../browser/use-search-state.ts';
import { useReadOnlyReason } from '../../changes/change-guards.tsx';
import { Button } from '../../components/button.tsx';
import { classNames } from '../../components/class-names.ts';
import { INPUT } from '../../components/field.tsx';
import { COLUMNS, EnvironmentRow } from './environment-row.tsx';
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
