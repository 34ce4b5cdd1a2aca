import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import TriangleAlert from 'lucide-react/icons/triangle-alert';
import { type FormEvent, useId, useState } from 'react';
import { type ApiError, isRefusal } from '../../api/api-error.ts';
import { type RevertDifference, type Reverted, revertChange } from '../../api/audit.ts';
import { useCatchUp } from '../../api/live.tsx';
import { queryKeys } from '../../api/query-cache.ts';
import type { EnvironmentRecord } from '../../api/types.ts';
import { ConnectedClients } from '../../changes/production-guard.tsx';
import { EnvironmentBadge } from '../badges.tsx';
import { Button } from '../button.tsx';
import { DeliveryProof } from '../delivery-proof.tsx';
import { Dialog, DialogActions } from '../dialog.tsx';
import { Field } from '../field.tsx';
import { RefusalNote } from '../form.tsx';
import { announce } from '../live-region.tsx';
import { SkeletonRows } from '../screen-states.tsx';
import { ScrollRegion } from '../tables.tsx';
import { toast } from '../toasts.tsx';
import { FieldDiff } from './field-diff.tsx';

/** Longest note, in characters; the server's limit. */
const LONGEST_NOTE = 1000;

/**
 * Shows what reverting change `seq` would put back, and does it as a new change. Where something has changed since,
 * it says what, and asks once more.
 */
export function RevertDialog({
  seq,
  project,
  environments,
  onClose,
}: {
  seq: number;
  /** Where it is about one project. */
  project?: string | undefined;
  environments: readonly EnvironmentRecord[];
  onClose: () => void;
}) {
  const [note, setNote] = useState('');
  const { preview, conflict, apply } = useRevert(seq, onClose);
  const anywayId = useId();
  const differences = preview.data?.differences;
  // Whoever is sure is so of what they read: when that changes, they are asked again.
  const overwritten = JSON.stringify([conflict?.message, differences]);
  const [sureOf, setSureOf] = useState<string>();
  const isSure = sureOf === overwritten;
  const guarded = environments.filter(
    (environment) =>
      environment.protected && differences?.some((each) => each.environment === environment.name),
  );
  const canApply = differences !== undefined && differences.length > 0 && (conflict === undefined || isSure);
  const failure = apply.error ?? preview.error;

  function submit(event: FormEvent): void {
    event.preventDefault();
    if (canApply) apply.mutate({ note: note.trim(), confirmed: guarded.map(({ name }) => name) });
  }

  return (
    <Dialog title={`Revert change ${seq}?`} onClose={onClose} className="w-[min(40rem,calc(100vw-2rem))]">
      <form onSubmit={submit} className="flex flex-col gap-3">
        <p className="text-ink-2">
          This restores the earlier state as a new change, which can be reverted too.
        </p>
        {conflict !== undefined && (
          <div role="alert" className="flex gap-2 rounded-md bg-warn-soft px-3 py-2 text-warn">
            <TriangleAlert size={16} className="mt-0.5 shrink-0" aria-hidden />
            <span className="min-w-0">
              Some of this was changed again after change {seq}. Reverting overwrites those later changes.
            </span>
          </div>
        )}
        {guarded.map((environment) => (
          <p
            key={environment.name}
            className="flex flex-wrap items-center gap-x-1.5 rounded-md bg-warn-soft px-3 py-2 text-warn"
          >
            <EnvironmentBadge environment={environment} className="font-medium" /> is protected.
            {project !== undefined && <ConnectedClients project={project} environment={environment.name} />}
          </p>
        ))}
        {preview.isPending && <SkeletonRows rows={2} />}
        {differences?.length === 0 && <p>Nothing to revert: everything is as it was before.</p>}
        {differences !== undefined && differences.length > 0 && (
          <Differences differences={differences} environments={environments} />
        )}
        <RefusalNote error={failure} />
        {conflict !== undefined && differences !== undefined && (
          <label htmlFor={anywayId} className="flex min-h-6 items-center gap-2">
            <input
              id={anywayId}
              type="checkbox"
              className="size-4 accent-accent"
              checked={isSure}
              onChange={(event) => setSureOf(event.target.checked ? overwritten : undefined)}
            />
            Revert anyway and overwrite the later changes
          </label>
        )}
        <Field label="Why" hint="Goes into the history. Optional.">
          {(props) => (
            <input
              {...props}
              maxLength={LONGEST_NOTE}
              value={note}
              onChange={(event) => setNote(event.target.value)}
            />
          )}
        </Field>
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" data-autofocus disabled={!canApply || apply.isPending}>
            {apply.isPending ? 'Reverting…' : 'Revert'}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}

function Differences({
  differences,
  environments,
}: {
  differences: readonly RevertDifference[];
  environments: readonly EnvironmentRecord[];
}) {
  return (
    <ScrollRegion label="What is put back" className="max-h-72 overflow-y-auto rounded-md border border-line">
      <ul className="divide-y divide-line">
        {differences.map(({ environment, key, before, after }) => {
          const looks = environments.find(({ name }) => name === environment);
          return (
            <li key={`${environment ?? ''}\n${key ?? ''}`} className="px-3 py-2">
              <p className="mb-1 flex flex-wrap items-center gap-x-1.5">
                {key !== undefined && <span className="font-mono text-xs break-all">{key}</span>}
                {key !== undefined && environment !== undefined && <span className="text-ink-3">in</span>}
                {looks === undefined ? environment : <EnvironmentBadge environment={looks} />}
              </p>
              <FieldDiff before={before} after={after} />
            </li>
          );
        })}
      </ul>
    </ScrollRegion>
  );
}

interface Preview extends Reverted {
  /** What has changed since, when something has. */
  readonly conflict?: ApiError;
}

/** What reverting a change would do, and the way to do it. */
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
  const apply = useMutation({
    mutationFn: ({ note, confirmed }: { note: string; confirmed: readonly string[] }) =>
      revertChange(seq, { force: conflict !== undefined, confirmed, note }),
    onSuccess: async (reverted) => {
      const title = `Change ${seq} was reverted`;
      announce(`Saved: ${title}`);
      toast({ kind: 'done', title, detail: <DeliveryProof seq={reverted.seq} /> });
      onDone();
      catchUp();
      await queries.invalidateQueries({ queryKey: queryKeys.audit });
    },
    onError: (error) => {
      announce(`Change ${seq} was not reverted`);
      // Somebody changed it while the preview was read: show what stands there now.
      if (isRefusal(error, 'revision_conflict')) void preview.refetch();
    },
  });
  return { preview, conflict, apply };
}

/** Where something has changed since, both are wanted: what it is, and what a revert would overwrite. */
async function previewRevert(seq: number): Promise<Preview> {
  try {
    return await revertChange(seq, { dryRun: true });
  } catch (conflict) {
    if (!isRefusal(conflict, 'revision_conflict')) throw conflict;
    return { ...(await revertChange(seq, { dryRun: true, force: true })), conflict };
  }
}
