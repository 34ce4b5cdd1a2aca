import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { queryKeys } from '../../api/query-cache.ts';
import type { WebhookDelivery, WebhookRecord } from '../../api/types.ts';
import { INSTALLATION, replayWebhook, useWebhookDeliveries } from '../../api/webhooks.ts';
import { toastFailure } from '../../components/actions.tsx';
import { Badge } from '../../components/badges.tsx';
import { Button } from '../../components/button.tsx';
import { ChangedPlaces } from '../../components/changed-places.tsx';
import { Dialog, DialogActions } from '../../components/dialog.tsx';
import { Loaded } from '../../components/screen-states.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';
import { toast } from '../../components/toasts.tsx';
import { type DeliveryGroup, groupsOf } from './delivery-groups.ts';
import { messages } from './messages.tsx';
import { useSkip } from './skip.ts';

/** The last attempts of a webhook by change; the message of a change can be sent again, or skipped. */
export function DeliveriesDialog({
  project,
  webhook,
  onClose,
}: {
  project: string;
  webhook: WebhookRecord;
  onClose: () => void;
}) {
  const { name } = webhook;
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
              {groupsOf(deliveries).map((group) => (
                <GroupItem
                  key={group.newest.seq ?? group.newest.messageId}
                  project={project}
                  webhook={webhook}
                  group={group}
                />
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

const KINDS = { delivered: 'good', failed: 'danger', 'given-up': 'warn' } as const;

/** The attempts to send one message: the newest with its answer, the others folded. */
function GroupItem({
  project,
  webhook,
  group,
}: {
  project: string;
  webhook: WebhookRecord;
  group: DeliveryGroup;
}) {
  const { newest, earlier } = group;
  const { seq } = newest;
  const skip = useSkip(project, webhook);
  const first = earlier.at(-1);

  return (
    <li className="py-3">
      <div className="flex flex-wrap items-start gap-x-3 gap-y-1.5">
        <div className="min-w-0 flex-1 basis-72">
          <p className="flex flex-wrap items-baseline gap-x-2 gap-y-1">
            <Badge kind={KINDS[newest.outcome]}>{messages.outcomes[newest.outcome]}</Badge>
            {seq === undefined ? (
              <span className="font-medium">{messages.testMessage}</span>
            ) : (
              <ChangedPlaces
                project={project === INSTALLATION ? undefined : project}
                change={{ ...newest, seq }}
              />
            )}
            <Environments delivery={newest} />
          </p>

          <AttemptLine delivery={newest} />
          {first !== undefined && (
            <p className="text-xs text-ink-3">
              {messages.attemptsSince(earlier.length + 1)}
              <TimeAgo at={first.at} />
            </p>
          )}
        </div>

        {seq !== undefined && (
          <div className="flex flex-wrap gap-1.5">
            {skip.one && webhook.lastFailure?.seq === seq && (
              <Button aria-label={messages.skipNamed(seq)} onClick={skip.one}>
                {messages.skip}
              </Button>
            )}
            <ReplayButton project={project} name={webhook.name} seq={seq} />
          </div>
        )}
      </div>

      <Answer text={newest.answer} isOpen={newest.outcome !== 'delivered'} />

      {earlier.length > 0 && (
        <details className="mt-1">
          <summary className="w-fit cursor-pointer text-xs text-accent">
            {messages.earlier(earlier.length)}
          </summary>
          <ol className="mt-1 space-y-1 border-l-2 border-line pl-3">
            {earlier.map((delivery) => (
              <li key={delivery.number}>
                <AttemptLine delivery={delivery} hasOutcome />
              </li>
            ))}
          </ol>
        </details>
      )}
    </li>
  );
}

/** Where the change was made, if that is one place. */
function Environments({ delivery: { changed = [] } }: { delivery: WebhookDelivery }) {
  const [only, ...others] = new Set(changed.flatMap(({ environment }) => environment ?? []));
  if (only === undefined || others.length > 0) return null;
  return <span className="text-ink-2">{messages.inEnvironment(only)}</span>;
}

/** One attempt: when, the status, how long it took, and why it failed. */
function AttemptLine({ delivery, hasOutcome = false }: { delivery: WebhookDelivery; hasOutcome?: boolean }) {
  const { outcome, trigger, at, status, durationMs, error } = delivery;
  const label = messages.triggers[trigger];

  return (
    <p className="mt-0.5 text-xs wrap-anywhere text-ink-3">
      {hasOutcome && `${messages.outcomes[outcome]}, `}
      <TimeAgo at={at} />
      {label !== undefined && ` · ${label}`}
      {status !== undefined && ` · ${status}`}
      {outcome !== 'given-up' && ` · ${messages.took(durationMs)}`}
      {/* A status says it all, but for redirects. */}
      {error !== undefined && (status ?? 300) < 400 && <span className="text-ink-2"> · {error}</span>}
    </p>
  );
}

/** What a receiver answered; open where it is the reason of a failure. */
function Answer({ text = '', isOpen }: { text: string | undefined; isOpen: boolean }) {
  if (text === '') return null;
  return (
    <details open={isOpen} className="mt-1">
      <summary className="w-fit cursor-pointer text-xs text-accent">{messages.answer}</summary>
      <pre className="mt-1 max-h-48 overflow-auto rounded-md border border-line bg-bg p-2 font-mono text-xs whitespace-pre-wrap wrap-anywhere">
        {text}
      </pre>
    </details>
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
