import { useQueryClient } from '@tanstack/react-query';
import Download from 'lucide-react/icons/download';
import { type ReactNode, useState } from 'react';
import { useLocation, useParams } from 'wouter';
import { countOpenStreams } from '../../api/clients.ts';
import { deleteProject, useProject } from '../../api/projects.ts';
import { queryKeys } from '../../api/query-cache.ts';
import { api } from '../../api/request.ts';
import { useCan } from '../../api/session.ts';
import type { ProjectRecord } from '../../api/types.ts';
import { switchUsage } from '../../api/usage.ts';
import { useChangeGuards } from '../../changes/change-guards.tsx';
import { useAction } from '../../components/actions.tsx';
import { Button } from '../../components/button.tsx';
import { closedStreamsText } from '../../components/closed-streams.ts';
import { useConfirm } from '../../components/confirm.tsx';
import { CheckField } from '../../components/field.tsx';
import { Page, ReadOnlyNote } from '../../components/page.tsx';
import { Loaded } from '../../components/screen-states.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';
import { messages as importMessages } from './import-messages.ts';
import { ImportSection } from './import-section.tsx';
import { messages } from './messages.tsx';

/** The screen "Project settings": what belongs to the project itself. Its environments, keys and so on are screens beside it. */
export function ProjectSettingsPage() {
  const { project: name = '' } = useParams<{ project: string }>();
  const reading = useProject(name);
  const canChange = useCan('admin');
  const canEdit = useCan('editor');

  return (
    <Page title={`${messages.title} · ${name}`} heading={messages.title}>
      <ReadOnlyNote>{messages.readOnly}</ReadOnlyNote>
      <Loaded reading={reading} rows={3}>
        {(project) => (
          <div className="flex max-w-3xl flex-col gap-4">
            <Section title={messages.project(project.name)}>
              <p className="text-ink-2">{messages.projectCreated(<TimeAgo at={project.createdAt} />)}</p>
              <CountReads project={project} canChange={canChange} />
            </Section>
            <Section title={messages.exportTitle}>
              <Export project={project.name} />
            </Section>
            {canEdit && (
              <Section title={importMessages.title}>
                <ImportSection project={project} />
              </Section>
            )}
            {canChange && (
              <Section title={messages.danger}>
                <DeleteProject project={project} />
              </Section>
            )}
          </div>
        )}
      </Loaded>
    </Page>
  );
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section aria-label={title} className="rounded-lg border border-line bg-surface p-4">
      <h2 className="mb-1 text-base font-semibold">{title}</h2>
      {children}
    </section>
  );
}

/** Links that download the flags of the project as a document. */
function Export({ project }: { project: string }) {
  return (
    <>
      <p className="text-ink-2">{messages.exportHint}</p>
      <p className="mt-3 flex flex-wrap gap-2">
        {(['yaml', 'json'] as const).map((format) => (
          <a
            key={format}
            href={`${api`projects/${project}/export`}?format=${format}`}
            download={`${project}.${format}`}
            className="inline-flex h-8 items-center gap-1.5 rounded-md border border-line bg-surface px-3 font-medium hover:bg-hover"
          >
            <Download size={14} aria-hidden /> {messages.exportAs(format.toUpperCase())}
          </a>
        ))}
      </p>
    </>
  );
}

/** The button that deletes the project once its name is typed. */
function DeleteProject({ project }: { project: ProjectRecord }) {
  const remove = useDeleteProject(project);
  return (
    <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
      <p className="min-w-0 flex-1 basis-64 text-ink-2">{messages.deleteProjectHint}</p>
      <Button kind="danger" onClick={() => void remove()}>
        {messages.deleteProject}
      </Button>
    </div>
  );
}

/** Whether the clients of the project report how often they read each flag. */
function CountReads({
  project: { name, usageSince },
  canChange,
}: {
  project: ProjectRecord;
  canChange: boolean;
}) {
  const queries = useQueryClient();
  const perform = useAction();
  const [wanted, setWanted] = useState<boolean>();

  async function change(usage: boolean): Promise<void> {
    setWanted(usage);
    await perform({
      run: async () => queries.setQueryData(queryKeys.project(name), await switchUsage(name, usage)),
      done: usage ? messages.readsCounted : messages.readsNotCounted,
      failed: messages.countReadsFailed,
      stale: [queryKeys.usage(name)],
    });
    setWanted(undefined);
  }

  return (
    <div className="mt-3 border-t border-line pt-3">
      <CheckField
        label={messages.countReads}
        hint={messages.countReadsHint}
        isChecked={wanted ?? usageSince !== undefined}
        isDisabled={!canChange || wanted !== undefined}
        onChange={(usage) => void change(usage)}
      />
    </div>
  );
}

function useDeleteProject({ name, environments }: ProjectRecord): () => Promise<void> {
  const perform = useAction();
  const confirm = useConfirm();
  const { askApproval } = useChangeGuards();
  const [, navigate] = useLocation();
  return async () => {
    const streams = closedStreamsText(await countOpenStreams(name));
    const names = environments.map((environment) => environment.name);
    const confirmed = environments.filter((environment) => environment.protected).map((each) => each.name);
    const { what, ...texts } = messages.deleting(name, names, streams);

    const isSure = await confirm({ ...texts, isDangerous: true, typed: name });
    const wanted = isSure ? await askApproval({ project: name, environments, what }) : undefined;
    if (wanted === undefined) return;

    const isDeleted = await perform({
      ...texts,
      run: () => deleteProject(name, { confirmed, ...wanted }),
      stale: [queryKeys.projects],
    });
    if (isDeleted) navigate('/?projects');
  };
}
