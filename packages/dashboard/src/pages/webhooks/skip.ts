import { queryKeys } from '../../api/query-cache.ts';
import type { WebhookRecord } from '../../api/types.ts';
import { skipWebhookChange, updateWebhook } from '../../api/webhooks.ts';
import { useConfirmedAction } from '../../components/actions.tsx';
import { messages } from './messages.tsx';

/** Asks, and skips the change that a webhook fails to deliver, if it fails, or all that waits. */
export function useSkip(
  project: string,
  { name, status, lastFailure, pendingCount, pendingMore }: WebhookRecord,
) {
  const perform = useConfirmedAction();
  const stale = [queryKeys.webhooks(project)];
  const { seq } = lastFailure ?? {};
  const isActive = status === 'active';

  const one = (failing: number) =>
    perform({
      ...messages.skipping(failing, name, isActive),
      isDangerous: true,
      run: () => skipWebhookChange(project, name, failing),
      stale,
    });
  const all = () =>
    perform({
      ...messages.skippingAll(messages.waiting(pendingCount, pendingMore ?? false), name, isActive),
      isDangerous: true,
      run: () => updateWebhook(project, name, { skipPending: true }),
      stale,
    });
  return { one: seq === undefined ? undefined : () => void one(seq), all: () => void all() };
}
