import { useQuery, useQueryClient } from '@tanstack/react-query';
import TriangleAlert from 'lucide-react/icons/triangle-alert';
import { useState } from 'react';
import { type ApiError, isProposed, isRefusal } from '../api/api-error.ts';
import type { Wanted } from '../api/approvals.ts';
import { revertChange } from '../api/audit.ts';
import { useCatchUp } from '../api/live.tsx';
import { useProject } from '../api/projects.ts';
import { queryKeys } from '../api/query-cache.ts';
import { useRollouts } from '../api/rollouts.ts';
import type { FlagState, RevertDifference, Reverted } from '../api/types.ts';
import { FieldDiff } from '../components/audit/field-diff.tsx';
import { StateDiff } from '../components/audit/state-diff.tsx';
import { EnvironmentBadge } from '../components/badges.tsx';
import { DeliveryProof } from '../components/delivery-proof.tsx';
import { EnvironmentName } from '../components/environment-name.tsx';
import { CheckField } from '../components/field.tsx';
import { FormDialog, useForm } from '../components/form.tsx';
import { announce } from '../components/live-region.tsx';
import { SkeletonRows } from '../components/screen-states.tsx';
import { ScrollRegion } from '../components/tables.tsx';
import { toast } from '../components/toasts.tsx';
import { useChangeGuards } from './change-guards.tsx';
import { messages as dialogs } from './dialog-messages.ts';
import { NoteField } from './note-field.tsx';
import { ConnectedClients } from './protected-note.tsx';

const words = dialogs.revert;

/**
 * Shows what reverting change `seq` would restore, and does it as a new change. If something has changed since, it shows
 * what, and asks once more.
 */
export function RevertDialog({
  seq,
  project,
  onClose,
}: {
  seq: number;
  project: string;
  onClose: () => void;
}) {
  const [note, setNote] = useState('');
  const { preview, conflict, apply } = useRevert(seq, onClose);
  // Without the environments the server refuses an unconfirmed revert, and the dialog shows why.
  const { data: found, isPending: isFinding } = useProject(project);
  const isPending = preview.isPending || isFinding;
  const differences = preview.data?.differences;

  // Consent applies to what was shown: when that changes, the box must be ticked again.
  const overwritten = JSON.stringify([conflict?.message, differences]);
  const [sureOf, setSureOf] = useState<string>();
  const isSure = sureOf === overwritten;

  const { askApproval } = useChangeGuards();
  const changed = (found?.environments ?? []).filter(({ name }) =>
    differences?.some((each) => each.environment === name),
  );
  const guarded = changed.filter((environment) => environment.protected);
  const needsApproval = guarded.some(({ approvals }) => approvals > 0);

  const form = useForm({
    submit: async () => {
      const wanted = await askApproval({
        project,
        environments: changed,
        what: words.what(seq),
        list: differences && <Differences project={project} differences={differences} />,
        note: note.trim(),
        canBeEmergency: true,
      });

      if (wanted === undefined) return;
      await apply(
        wanted,
        guarded.map(({ name }) => name),
      );
    },
  });

  function obstacleTo(): string | undefined {
    if (isPending) return words.loadingPreview;
    if (differences === undefined) return words.noPreview;
    if (differences.length === 0) return words.nothingToRevert;
    return conflict !== undefined && !isSure ? words.tickRevertAnyway : undefined;
  }

  return (
    <FormDialog
      title={words.title(seq)}
      form={{ ...form, error: form.error ?? preview.error }}
      action={needsApproval ? dialogs.proposeIt : words.action}
      obstacle={obstacleTo()}
      focused="action"
      className="w-[min(40rem,calc(100vw-2rem))]"
      onClose={onClose}
    >
      <p className="text-ink-2" data-description>
        {words.hint}
      </p>

      {conflict !== undefined && (
        <div role="alert" className="flex gap-2 rounded-md bg-warn-soft px-3 py-2 text-warn">
          <TriangleAlert size={16} className="mt-0.5 shrink-0" aria-hidden />
          <span className="min-w-0">{words.changedAgain(seq)}</span>
        </div>
      )}

      {guarded.map((environment) => (
        <p
          key={environment.name}
          className="flex flex-wrap items-center gap-x-1.5 rounded-md bg-warn-soft px-3 py-2 text-warn"
        >
          <EnvironmentBadge environment={environment} className="font-medium" /> {dialogs.isProtected}
          <ConnectedClients project={project} environment={environment.name} />
        </p>
      ))}

      {isPending && <SkeletonRows rows={2} />}
      {differences !== undefined && differences.length > 0 && (
        <Differences project={project} differences={differences} />
      )}
      <InterruptedPlans project={project} differences={differences ?? []} />

      {conflict !== undefined && differences !== undefined && (
        <CheckField
          label={words.anyway}
          isChecked={isSure}
          onChange={(isChecked) => setSureOf(isChecked ? overwritten : undefined)}
        />
      )}
      {!needsApproval && (
        <NoteField
          value={note}
          isRequired={changed.some(({ reasonRequired }) => reasonRequired)}
          onChange={setNote}
        />
      )}
    </FormDialog>
  );
}

interface DifferencesProps {
  readonly project: string;
  readonly differences: readonly RevertDifference[];
}

/** Says which rollout plans the revert pauses or stops. */
function InterruptedPlans({ project, differences }: DifferencesProps) {
  const { data = [] } = useRollouts(project, { status: 'open' });
  return data.map(({ id, flag, environment = '', status }) => {
    const found = differences.find((each) => each.key === flag && each.environment === environment);
    if (found === undefined || (found.after !== undefined && status === 'paused')) return null;
    return (
      <p key={id} className="text-ink-2">
        {(found.after === undefined ? words.stopsPlan : words.pausesPlan)(flag, environment)}
      </p>
    );
  });
}

function Differences({ project, differences }: DifferencesProps) {
  return (
    <ScrollRegion
      label={words.whatIsRestored}
      className="max-h-72 overflow-y-auto rounded-md border border-line"
    >
      <ul className="divide-y divide-line">
        {differences.map(({ environment, key, before, after }) => (
          <li key={`${environment ?? ''}\n${key ?? ''}`} className="px-3 py-2">
            <p className="mb-1 flex flex-wrap items-center gap-x-1.5">
              {key !== undefined && <span className="font-mono text-xs wrap-anywhere">{key}</span>}
              {key !== undefined && environment !== undefined && (
                <span className="text-ink-3">{words.in}</span>
              )}
              <EnvironmentName project={project} name={environment} />
            </p>
            {key !== undefined && environment !== undefined ? (
              // In an environment, a flag has a state.
              <StateDiff before={before as FlagState | undefined} after={after as FlagState | undefined} />
            ) : (
              <FieldDiff before={before} after={after} />
            )}
          </li>
        ))}
      </ul>
    </ScrollRegion>
  );
}

interface Preview extends Reverted {
  /** Set if something has changed since. */
  readonly conflict?: ApiError;
}

/** Previews and applies the revert of a change. */
function useRevert(seq: number, onDone: () => void) {
  const queries = useQueryClient();
  const catchUp = useCatchUp();
  const preview = useQuery({
    queryKey: [...queryKeys.audit, 'revert', seq],
    queryFn: () => previewRevert(seq),
    retry: false,
    staleTime: 0,
    gcTime: 0,
  });
  const conflict = preview.data?.conflict;

  async function apply(wanted: Wanted, confirmed: readonly string[]): Promise<void> {
    try {
      const reverted = await revertChange(seq, { force: conflict !== undefined, confirmed, ...wanted });
      const title = words.done(seq);
      toast({ kind: 'done', title, detail: <DeliveryProof seq={reverted.seq} /> });
      onDone();
      catchUp();
      await queries.invalidateQueries({ queryKey: queryKeys.audit });
    } catch (error) {
      if (!isProposed(error)) announce(words.failed(seq));
      // It was changed while the preview was read: show the current state.
      if (isRefusal(error, 'revision_conflict')) void preview.refetch();
      throw error;
    }
  }

  return { preview, conflict, apply };
}

/** If something has changed since, returns both the conflict and what a revert would overwrite. */
async function previewRevert(seq: number): Promise<Preview> {
  try {
    return await revertChange(seq, { dryRun: true });
  } catch (conflict) {
    if (!isRefusal(conflict, 'revision_conflict')) throw conflict;
    return { ...(await revertChange(seq, { dryRun: true, force: true })), conflict };
  }
}
