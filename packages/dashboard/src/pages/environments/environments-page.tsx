import Plus from 'lucide-react/icons/plus';
import { useCallback, useState } from 'react';
import { useParams } from 'wouter';
import { useClients } from '../../api/clients.ts';
import { useProject } from '../../api/projects.ts';
import { useCan } from '../../api/session.ts';
import type { ProjectRecord } from '../../api/types.ts';
import { Button } from '../../components/button.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { Page } from '../../components/page.tsx';
import { Problem } from '../../components/problem.tsx';
import { ReadOnlyNote } from '../../components/read-only-note.tsx';
import { type Column, RecordTable } from '../../components/record-table.tsx';
import { SkeletonRows } from '../../components/skeleton.tsx';
import { useCreateCommand } from '../../shell/use-create-command.ts';
import { useLivePresence } from '../clients/use-live-presence.ts';
import { CreateEnvironmentDialog } from './create-environment-dialog.tsx';
import { EnvironmentRow } from './environment-row.tsx';
import { ProjectSection } from './project-section.tsx';
import { useFlagCounts } from './use-flag-counts.ts';
import { useMoveEnvironment } from './use-move-environment.ts';

const COLUMNS = [
  { label: 'Environment' },
  { label: 'Protection' },
  { label: 'Flags' },
  { label: 'Revision' },
  { label: 'Open streams' },
  { label: 'Created' },
  { label: 'Actions', isSilent: true },
] as const satisfies readonly Column[];

/** The environments of a project in their order, and the project itself. */
export function EnvironmentsPage() {
  const { project: name = '' } = useParams<{ project: string }>();
  const { data: project, error, refetch } = useProject(name);
  const canChange = useCan('admin');
  const [isCreating, setCreating] = useState(false);
  const start = useCallback(() => setCreating(true), []);
  useCreateCommand({ id: 'environment.new', title: 'New environment', isAllowed: canChange, run: start });
  if (error !== null && project === undefined)
    return <Problem error={error} onRetry={() => void refetch()} />;
  const create = canChange && (
    <Button kind="primary" disabled={project === undefined} onClick={start}>
      <Plus size={15} aria-hidden /> New environment
    </Button>
  );
  return (
    <Page
      title={`Environments · ${name}`}
      heading="Environments"
      actions={project?.environments.length !== 0 && create}
      intro="Each flag has a state of its own in every environment. They stand in this order on all screens; changes of a protected one are confirmed first."
    >
      <ReadOnlyNote>Changing environments and projects</ReadOnlyNote>
      {project === undefined ? (
        <SkeletonRows rows={3} />
      ) : project.environments.length === 0 ? (
        <EmptyState title="No environment is left" action={create}>
          Make one, such as production: flags get their states in it, and keys read them.
        </EmptyState>
      ) : (
        <EnvironmentTable project={project} canChange={canChange} />
      )}
      {project !== undefined && <ProjectSection project={project} canChange={canChange} />}
      {isCreating && project !== undefined && (
        <CreateEnvironmentDialog project={project} onClose={() => setCreating(false)} />
      )}
    </Page>
  );
}

function EnvironmentTable({ project, canChange }: { project: ProjectRecord; canChange: boolean }) {
  const { data: clients } = useClients(project.name);
  useLivePresence(project.name);
  const flags = useFlagCounts(project.name);
  const move = useMoveEnvironment(project);
  const { environments } = project;
  return (
    <RecordTable
      label="Environments"
      columns={flags === undefined ? COLUMNS.filter(({ label }) => label !== 'Flags') : COLUMNS}
    >
      {environments.map((environment, index) => (
        <EnvironmentRow
          key={environment.name}
          project={project.name}
          environment={environment}
          streams={clients?.find((each) => each.environment === environment.name)?.streams}
          flags={flags && (flags.get(environment.name) ?? 0)}
          canChange={canChange}
          moves={{
            up: index > 0 ? () => move(environment, index - 1) : undefined,
            down: index < environments.length - 1 ? () => move(environment, index + 1) : undefined,
          }}
        />
      ))}
    </RecordTable>
  );
}
