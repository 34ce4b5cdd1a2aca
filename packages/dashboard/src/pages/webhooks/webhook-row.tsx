import { useState } from 'react';
import type { WebhookRecord } from '../../api/types.ts';
import { INSTALLATION } from '../../api/webhooks.ts';
import { Badge } from '../../components/badges.tsx';
import { ChangedPlaces } from '../../components/changed-places.tsx';
import { classNames } from '../../components/class-names.ts';
import { RecordCell, RecordHead, RecordRow } from '../../components/tables.tsx';
import { TimeAgo, useTimeRefresh } from '../../components/time-ago.tsx';
import { AttemptsBar } from './attempts-bar.tsx';
import { DeliveriesDialog } from './deliveries-dialog.tsx';
import { reasonOf } from './delivery-groups.ts';
import { messages } from './messages.tsx';
import { type OpenDialog, WebhookActions } from './webhook-actions.tsx';
import { EditWebhookDialog, type WebhookPlace, WebhookSecretDialog } from './webhook-dialogs.tsx';

const [, statusColumn, attemptsColumn, waitingColumn] = messages.columns;

/** A webhook: whether it works, why it does not, its attempts of a day, and what waits. */
export function WebhookRow({ project, webhook }: { project: WebhookPlace; webhook: WebhookRecord }) {
  const { name, url, environments, events } = webhook;
  const [open, setOpen] = useState<OpenDialog>();
  const close = () => setOpen(undefined);

  return (
    <RecordRow isOver={webhook.status !== 'active'}>
      <RecordHead>
        <span className="flex items-center gap-2">
          <span aria-hidden className={classNames('size-2 shrink-0 rounded-full', DOTS[healthOf(webhook)])} />
          <span className="min-w-0 font-medium">{name}</span>
        </span>
        <span className="block pl-4 font-mono text-xs text-ink-3">{url}</span>
        <span className="block pl-4 text-xs text-ink-3">
          {project.name === INSTALLATION ? (
            messages.installation.everyEntry
          ) : (
            <>
              {events.length === 0 ? messages.allChanges : messages.changesOf(events)}{' '}
              {environments.length === 0 ? messages.inAll : messages.inSome(environments)}
            </>
          )}
        </span>
      </RecordHead>

      <RecordCell label={statusColumn.label} className="max-sm:col-span-full">
        <Status project={project.name} webhook={webhook} />
      </RecordCell>
      <RecordCell label={attemptsColumn.label} className="lg:whitespace-nowrap">
        <AttemptsBar hours={webhook.hours} />
      </RecordCell>
      <RecordCell label={waitingColumn.label} className="lg:whitespace-nowrap">
        <Waiting webhook={webhook} />

        {open === 'edit' && <EditWebhookDialog project={project} webhook={webhook} onClose={close} />}
        {open === 'deliveries' && (
          <DeliveriesDialog project={project.name} webhook={webhook} onClose={close} />
        )}
        {typeof open === 'object' && (
          <WebhookSecretDialog name={name} secret={open.secret} isReplaced onClose={close} />
        )}
      </RecordCell>

      <WebhookActions project={project} webhook={webhook} onOpen={setOpen} />
    </RecordRow>
  );
}

type Health = keyof typeof messages.statuses;

function healthOf({ status, failures }: WebhookRecord): Health {
  return status === 'active' && failures > 0 ? 'failing' : status;
}

/** The word beside it says the same. */
const DOTS: Readonly<Record<Health, string>> = {
  active: 'forced-color-adjust-none bg-good',
  failing: 'forced-color-adjust-none bg-danger',
  paused: 'border border-line-strong',
  disabled: 'forced-color-adjust-none bg-warn',
};

const BADGES = { active: 'good', failing: 'danger', paused: 'over', disabled: 'warn' } as const;

/** Whether it works; and why not, and when it is tried again. */
function Status({ project, webhook }: { project: string; webhook: WebhookRecord }) {
  const { reason, lastFailure, nextAttemptAt } = webhook;
  const health = healthOf(webhook);

  return (
    <>
      <Badge kind={BADGES[health]}>{messages.statuses[health]}</Badge>
      {reason !== undefined && <span className="mt-0.5 block text-xs text-ink-2">{reason}</span>}
      {lastFailure !== undefined && (
        <span className="mt-0.5 block text-xs text-ink">{reasonOf(lastFailure)}</span>
      )}
      {lastFailure?.seq !== undefined && (
        <span className="mt-0.5 block text-xs text-ink-2">
          {messages.stuckAt}{' '}
          <ChangedPlaces
            project={project === INSTALLATION ? undefined : project}
            change={{ ...lastFailure, seq: lastFailure.seq }}
          />
        </span>
      )}
      {health === 'failing' && nextAttemptAt !== undefined && <NextAttempt at={nextAttemptAt} />}
    </>
  );
}

function NextAttempt({ at }: { at: string }) {
  useTimeRefresh();
  const isDue = Date.parse(at) - Date.now() < 5_000;
  return (
    <span className="mt-0.5 block text-xs text-ink-3">
      {isDue ? (
        messages.attemptDue
      ) : (
        <>
          {messages.nextAttempt} <TimeAgo at={at} />
        </>
      )}
    </span>
  );
}

/** How many changes wait, since when, and how many were lost. */
function Waiting({ webhook }: { webhook: WebhookRecord }) {
  const { pendingCount, pendingMore = false, pendingSince, givenUp } = webhook;

  return (
    <>
      {pendingSince === undefined ? (
        <span className="text-ink-3">{messages.nothingWaits}</span>
      ) : (
        <>
          <span className="block font-medium">{messages.waiting(pendingCount, pendingMore)}</span>
          <span className="block text-xs text-ink-3">
            {messages.since}
            <TimeAgo at={pendingSince} />
          </span>
        </>
      )}
      {givenUp > 0 && <span className="block text-xs text-warn">{messages.givenUp(givenUp)}</span>}
    </>
  );
}
