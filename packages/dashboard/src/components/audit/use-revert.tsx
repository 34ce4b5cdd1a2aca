import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type ApiError, isRefusal } from '../../api/api-error.ts';
import { type Reverted, revertChange } from '../../api/changes.ts';
import { useCatchUp } from '../../api/live.tsx';
import { queryKeys } from '../../api/query-keys.ts';
import { DeliveryProof } from '../delivery-proof.tsx';
import { announce } from '../live-region.tsx';
import { toast } from '../toasts.tsx';

interface Preview extends Reverted {
  /** What has changed since, when something has. */
  readonly conflict?: ApiError;
}

/** What reverting a change would do, and the way to do it. */
export function useRevert(seq: number, onDone: () => void) {
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
