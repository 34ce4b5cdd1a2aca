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
    perform(
      {
        title: messages.skipTitle(failing),
        body: messages.skipBody(name, isActive),
        action: messages.skipAction,
        isDangerous: true,
      },
      {
        run: () => skipWebhookChange(project, name, failing),
        done: messages.skipped(failing),
        failed: messages.skipFailed(failing),
        stale,
      },
    );

  const waiting = messages.waiting(pendingCount, pendingMore ?? false);

  const all = () =>
    perform(
      {
        title: messages.skipAllTitle(waiting),
        body: messages.skipAllBody(name),
        action: messages.skipAllAction,
        isDangerous: true,
      },
      {
        run: () => updateWebhook(project, name, { skipPending: true }),
        done: messages.skippedAll(waiting, name, isActive),
        failed: messages.skipAllFailed(name),
        stale,
      },
    );

  return { one: seq === undefined ? undefined : () => void one(seq), all: () => void all() };
}
