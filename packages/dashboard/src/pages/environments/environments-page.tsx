import { skipToken, useQuery, useQueryClient } from '@tanstack/react-query';
import ArrowDown from 'lucide-react/icons/arrow-down';
import ArrowUp from 'lucide-react/icons/arrow-up';
import Trash from 'lucide-react/icons/trash-2';
import { useMemo, useState } from 'react';
import { useParams } from 'wouter';
import { useClients, useLivePresence } from '../../api/clients.ts';
import { updateEnvironment, useProject } from '../../api/projects.ts';
import { queryKeys } from '../../api/query-cache.ts';
import { useCan } from '../../api/session.ts';
import type { EnvironmentRecord, FlagRecord, ProjectRecord } from '../../api/types.ts';
import { useAction } from '../../components/actions.tsx';
import { Badge, EnvironmentBadge } from '../../components/badges.tsx';
import { Button } from '../../components/button.tsx';
import { lazyPart } from '../../components/lazy-part.ts';
import { TimeCell } from '../../components/lifetime.tsx';
import { ListScreen } from '../../components/list-screen.tsx';
import { MenuItem, MenuSeparator, OverflowMenu } from '../../components/menu.tsx';
import { SectionPart } from '../../components/parts.tsx';
import { RecordActions, RecordCell, RecordHead, RecordRow, RecordTable } from '../../components/tables.tsx';
import { useDeleteEnvironment } from './deletion.tsx';
import { CreateEnvironmentDialog, EditEnvironmentDialog } from './environment-dialogs.tsx';
import { messages } from './messages.tsx';

const PublicationsSection = lazyPart(() => import('./publications-section.tsx'), 'PublicationsSection');

/** The screen "Environments": the environments of a project in their order, and which of them are published. */
export function EnvironmentsPage() {
  const { project: name = '' } = useParams<{ project: string }>();
  const reading = useProject(name);
  const canChange = useCan('admin');
  const project = reading.data;

  return (
    <ListScreen
      texts={messages}
      project={name}
      command="environment.new"
      reading={reading}
      isEmpty={({ environments }) => environments.length === 0}
      rows={3}
      canCreate={canChange}
      isReady={project !== undefined}
      dialog={(stop) => project && <CreateEnvironmentDialog project={project} onClose={stop} />}
      below={
        project && (
          <SectionPart>
            <PublicationsSection project={project} />
          </SectionPart>
        )
      }
    >
      {(found) => <EnvironmentTable project={found} />}
    </ListScreen>
  );
}

const [, protectionColumn, flagsColumn, streamsColumn, createdColumn] = messages.columns;

function EnvironmentTable({ project }: { project: ProjectRecord }) {
  const { data: clients } = useClients(project.name);
  useLivePresence(project.name);
  const flags = useFlagCounts(project.name);
  const move = useMoveEnvironment(project);
  const { environments } = project;

  return (
    <RecordTable
      label={messages.list}
      columns={
        flags === undefined ? messages.columns.filter((each) => each !== flagsColumn) : messages.columns
      }
    >
      {environments.map((environment, index) => (
        <EnvironmentRow
          key={environment.name}
          project={project.name}
          environment={environment}
          streams={clients?.find((each) => each.environment === environment.name)?.streams}
          flags={flags && (flags.get(environment.name) ?? 0)}
          moves={{
            up: index > 0 ? () => move(environment, index - 1) : undefined,
            down: index < environments.length - 1 ? () => move(environment, index + 1) : undefined,
          }}
        />
      ))}
    </RecordTable>
  );
}

/** What its row and its actions know of an environment. */
interface EnvironmentProps {
  readonly project: string;
  readonly environment: EnvironmentRecord;
  /** How many have a state in it; `undefined` while that is not known. */
  readonly flags: number | undefined;
  /** `undefined` at the end of the list. */
  readonly moves: Readonly<Record<'up' | 'down', (() => void) | undefined>>;
}

/** One environment. */
function EnvironmentRow({
  project,
  environment,
  streams,
  flags,
  moves,
}: EnvironmentProps & {
  /** `undefined` while it is not known. */
  streams: number | undefined;
}) {
  const canChange = useCan('admin');

  return (
    <RecordRow>
      <RecordHead>
        <EnvironmentBadge environment={environment} className="font-medium" />
      </RecordHead>
      <RecordCell label={protectionColumn.label}>
        <span className="flex flex-wrap gap-1">
          {environment.protected && <Badge kind="warn">{messages.protected}</Badge>}
          {!environment.protected && !environment.reasonRequired && (
            <span className="text-ink-3">{messages.unprotected}</span>
          )}
          {environment.approvals > 0 && <Badge>{messages.approvalsShort(environment.approvals)}</Badge>}
          {environment.reasonRequired && <Badge>{messages.reasonsShort}</Badge>}
        </span>
      </RecordCell>
      {flags !== undefined && <RecordCell label={flagsColumn.label}>{flags}</RecordCell>}
      <RecordCell label={streamsColumn.label}>
        {streams ?? <span className="text-ink-3">{messages.loading}</span>}
      </RecordCell>
      <TimeCell label={createdColumn.label} at={environment.createdAt} />
      <RecordActions>
        {canChange && (
          <EnvironmentActions project={project} environment={environment} flags={flags} moves={moves} />
        )}
      </RecordActions>
    </RecordRow>
  );
}

function EnvironmentActions({ project, environment, flags, moves: { up, down } }: EnvironmentProps) {
  const [isEditing, setEditing] = useState(false);
  const remove = useDeleteEnvironment(project);
  const { name } = environment;

  return (
    <>
      <Button aria-label={messages.editEnvironment(name)} onClick={() => setEditing(true)}>
        {messages.edit}
      </Button>
      <OverflowMenu label={messages.more(name)}>
        <MenuItem
          icon={ArrowUp}
          disabled={up === undefined}
          label={messages.moveUp}
          onSelect={() => up?.()}
        />
        <MenuItem
          icon={ArrowDown}
          disabled={down === undefined}
          label={messages.moveDown}
          onSelect={() => down?.()}
        />
        <MenuSeparator />
        <MenuItem
          icon={Trash}
          isDangerous
          label={messages.delete}
          onSelect={() => void remove(environment, flags)}
        />
      </OverflowMenu>
      {isEditing && (
        <EditEnvironmentDialog
          project={project}
          environment={environment}
          onClose={() => setEditing(false)}
        />
      )}
    </>
  );
}

/**
 * Moves an environment to another position in its project: shown immediately, and undone when it is refused. Positions
 * are numbered from 0 without gaps, which also separates environments that shared one.
 */
function useMoveEnvironment(project: ProjectRecord): (environment: EnvironmentRecord, index: number) => void {
  const queries = useQueryClient();
  const perform = useAction();
  const queryKey = queryKeys.project(project.name);
  return (environment, index) => {
    const others = project.environments.filter(({ name }) => name !== environment.name);
    const order = others.toSpliced(index, 0, environment);
    const moved = order.flatMap(({ name, position }, place) => (position === place ? [] : [{ name, place }]));
    // A pending response still has the old order.
    void queries.cancelQueries({ queryKey });
    queries.setQueryData<ProjectRecord>(queryKey, {
      ...project,
      environments: order.map((each, position) => ({ ...each, position })),
    });
    void perform({
      run: async () => {
        for (const { name, place } of moved) await updateEnvironment(project.name, name, { position: place });
      },
      done: messages.moved(environment.name, index + 1, order.length),
      failed: messages.moveFailed(environment.name),
      stale: [queryKey],
    });
  };
}

/** How many flags each environment has, if the list of flags is cached: it is too long to read only for this. */
function useFlagCounts(project: string): ReadonlyMap<string, number> | undefined {
  const { data } = useQuery<readonly FlagRecord[]>({
    queryKey: queryKeys.flags(project),
    queryFn: skipToken,
  });
  return useMemo(() => data && counts(data), [data]);
}

function counts(flags: readonly FlagRecord[]): ReadonlyMap<string, number> {
  const byEnvironment = new Map<string, number>();
  for (const name of flags.flatMap(({ environments }) => Object.keys(environments))) {
    byEnvironment.set(name, (byEnvironment.get(name) ?? 0) + 1);
  }
  return byEnvironment;
}
