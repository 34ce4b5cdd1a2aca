import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { queryKeys } from '../../api/query-cache.ts';
import type { WebhookDelivery } from '../../api/types.ts';
import { replayWebhook, useWebhookDeliveries } from '../../api/webhooks.ts';
import { toastFailure } from '../../components/actions.tsx';
import { Badge } from '../../components/badges.tsx';
import { Button } from '../../components/button.tsx';
import { Dialog, DialogActions } from '../../components/dialog.tsx';
import { Loaded } from '../../components/screen-states.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';
import { toast } from '../../components/toasts.tsx';
import { messages } from './messages.tsx';

/** The last attempts of a webhook; the message of a change can be sent again. */
export function DeliveriesDialog({
  project,
  name,
  onClose,
}: {
  project: string;
  name: string;
  onClose: () => void;
}) {
  const reading = useWebhookDeliveries(project, name);
  return (
    <Dialog
      title={messages.deliveriesNamed(name)}
      onClose={onClose}
      isQuestion
      className="w-[min(52rem,calc(100vw-2rem))]"
    >
      <p className="text-ink-3">{messages.deliveriesIntro}</p>
      <Loaded reading={reading} rows={6}>
        {(deliveries) =>
          deliveries.length === 0 ? (
            <p className="py-6 text-center text-ink-2">{messages.noDeliveries}</p>
          ) : (
            <ol className="mt-3 divide-y divide-line border-y border-line">
              {deliveries.map((delivery) => (
                <DeliveryItem key={delivery.number} project={project} name={name} delivery={delivery} />
              ))}
            </ol>
          )
        }
      </Loaded>

      <DialogActions>
        <Button disabled={reading.isFetching} onClick={() => void reading.refetch()}>
          {messages.refresh}
        </Button>
      </DialogActions>
    </Dialog>
  );
}

const KINDS = { delivered: 'good', failed: 'warn', 'given-up': 'warn' } as const;

function DeliveryItem({
  project,
  name,
  delivery,
}: {
  project: string;
  name: string;
  delivery: WebhookDelivery;
}) {
  const { seq, outcome, trigger, at, status, durationMs, error, answer } = delivery;
  const label = messages.triggers[trigger];

  return (
    <li className="flex flex-wrap items-start gap-x-3 gap-y-1 py-2">
      <div className="flex min-w-0 flex-1 basis-72 flex-col gap-0.5">
        <p className="flex flex-wrap items-center gap-2">
          <Badge kind={KINDS[outcome]}>{messages.outcomes[outcome]}</Badge>
          <span className="font-medium">
            {seq === undefined ? messages.testMessage : messages.change(seq)}
          </span>
          {label !== undefined && seq !== undefined && <Badge>{label}</Badge>}
          <span className="text-xs text-ink-3">
            <TimeAgo at={at} />
            {status !== undefined && ` · ${status}`}
            {outcome !== 'given-up' && ` · ${messages.took(durationMs)}`}
          </span>
        </p>
        {error !== undefined && <p className="text-ink-2">{error}</p>}
        {answer !== undefined && answer !== '' && (
          <details>
            <summary className="w-fit cursor-pointer text-xs text-accent">{messages.answer}</summary>
            <pre className="mt-1 max-h-48 overflow-auto rounded-md border border-line bg-bg p-2 font-mono text-xs whitespace-pre-wrap">
              {answer}
            </pre>
          </details>
        )}
      </div>
      {seq !== undefined && <ReplayButton project={project} name={name} seq={seq} />}
    </li>
  );
}

/** Sends the message of a change again. */
function ReplayButton({ project, name, seq }: { project: string; name: string; seq: number }) {
  const queries = useQueryClient();
  const [isBusy, setBusy] = useState(false);

  async function replay(): Promise<void> {
    setBusy(true);
    try {
      reportDelivery(name, await replayWebhook(project, name, seq));
    } catch (error) {
      toastFailure(messages.testFailed(name), error);
    } finally {
      void queries.invalidateQueries({ queryKey: queryKeys.webhooks(project) });
      setBusy(false);
    }
  }

  return (
    <Button aria-label={messages.replayNamed(seq)} disabled={isBusy} onClick={() => void replay()}>
      {messages.replay}
    </Button>
  );
}

/** Says how a message that was sent by hand went. */
export function reportDelivery(name: string, { outcome, status, durationMs, error }: WebhookDelivery): void {
  if (outcome === 'delivered') toast({ kind: 'done', title: messages.tested(status, durationMs) });
  else toast({ kind: 'problem', title: messages.testFailed(name), detail: error });
}
