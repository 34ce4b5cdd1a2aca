import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { countOpenStreams } from '../../api/clients.ts';
import { deleteEnvironment, deleteProject } from '../../api/projects.ts';
import { queryKeys } from '../../api/query-cache.ts';
import type { EnvironmentRecord, ProjectRecord } from '../../api/types.ts';
import { switchUsage } from '../../api/usage.ts';
import { useChangeGuards } from '../../changes/change-guards.tsx';
import { useAction } from '../../components/actions.tsx';
import { Button } from '../../components/button.tsx';
import { closedStreamsText } from '../../components/closed-streams.ts';
import { useConfirm } from '../../components/confirm.tsx';
import { CheckField } from '../../components/field.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';
import { messages } from './messages.tsx';

/** Asks for the environment's name, then deletes it. `flags` is how many have a state in it. */
export function useDeleteEnvironment(
  project: string,
): (environment: EnvironmentRecord, flags: number | undefined) => Promise<unknown> {
  const perform = useAction();
  const confirm = useConfirm();
  const { askApproval } = useChangeGuards();
  return async (environment, flags) => {
    const { name } = environment;
    const streams = closedStreamsText(await countOpenStreams(project, { environment: name }));
    const isSure = await confirm({
      title: messages.deleteTitle(name),
      body: messages.deleteBody(name, flags, streams),
      action: messages.deleteAction,
      isDangerous: true,
      typed: name,
    });
    const what = messages.deleteWhat(name);
    const wanted = isSure ? await askApproval({ project, environments: [environment], what }) : undefined;
    if (wanted === undefined) return undefined;

    return perform({
      run: () => deleteEnvironment(project, name, wanted),
      done: messages.deleted(name),
      failed: messages.deleteFailed(name),
      stale: [
        queryKeys.project(project),
        queryKeys.flags(project),
        queryKeys.clients(project),
        queryKeys.schedules(project),
      ],
    });
  };
}

/** The project itself, whether its reads are counted, and the button that deletes it. */
export function ProjectSection({ project, canChange }: { project: ProjectRecord; canChange: boolean }) {
  const remove = useDeleteProject(project);
  const { name, createdAt } = project;
  return (
    <section className="mt-8 rounded-lg border border-line bg-surface p-4">
      <h2 className="text-base font-semibold">{messages.project(name)}</h2>
      <p className="text-ink-2">{messages.projectCreated(<TimeAgo at={createdAt} />)}</p>
      <CountReads project={project} canChange={canChange} />
      {canChange && (
        <div className="mt-3 flex flex-wrap items-center justify-between gap-x-4 gap-y-2 border-t border-line pt-3">
          <p className="min-w-0 flex-1 basis-64 text-ink-2">{messages.deleteProjectHint}</p>
          <Button kind="danger" onClick={() => void remove()}>
            {messages.deleteProject}
          </Button>
        </div>
      )}
    </section>
  );
}

/** Whether the clients of the project report how often they read each flag. */
function CountReads({ project: { name, usageSince }, canChange }: Parameters<typeof ProjectSection>[0]) {
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
    const isSure = await confirm({
      title: messages.deleteProjectTitle(name),
      body: messages.deleteProjectBody(names, streams),
      action: messages.deleteProject,
      isDangerous: true,
      typed: name,
    });
    const what = messages.deleteWhat(name);
    const wanted = isSure ? await askApproval({ project: name, environments, what }) : undefined;
    if (wanted === undefined) return;

    const isDeleted = await perform({
      run: () => deleteProject(name, { confirmed, ...wanted }),
      done: messages.projectDeleted(name),
      failed: messages.deleteProjectFailed(name),
      stale: [queryKeys.projects],
    });
    if (isDeleted) navigate('/?projects');
  };
}
