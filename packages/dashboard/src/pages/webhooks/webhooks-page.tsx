import Pause from 'lucide-react/icons/pause';
import Pencil from 'lucide-react/icons/pencil';
import Play from 'lucide-react/icons/play';
import RefreshCw from 'lucide-react/icons/refresh-cw';
import Trash from 'lucide-react/icons/trash-2';
import Webhook from 'lucide-react/icons/webhook';
import { useState } from 'react';
import { useParams } from 'wouter';
import { isMade } from '../../api/api-error.ts';
import { useProject } from '../../api/projects.ts';
import { queryKeys } from '../../api/query-cache.ts';
import { useCan } from '../../api/session.ts';
import type { ProjectRecord, WebhookRecord } from '../../api/types.ts';
import {
  deleteWebhook,
  rotateWebhook,
  testWebhook,
  updateWebhook,
  useLiveWebhooks,
  useWebhooks,
} from '../../api/webhooks.ts';
import { links } from '../../browser/links.ts';
import { toastFailure, useAction, useConfirmedAction } from '../../components/actions.tsx';
import { Badge } from '../../components/badges.tsx';
import { Button } from '../../components/button.tsx';
import { useConfirm } from '../../components/confirm.tsx';
import { ListScreen } from '../../components/list-screen.tsx';
import { MenuItem, MenuSeparator, OverflowMenu } from '../../components/menu.tsx';
import { bothOf } from '../../components/screen-states.tsx';
import { RecordActions, RecordCell, RecordHead, RecordRow, RecordTable } from '../../components/tables.tsx';
import { TimeAgo, useTimeRefresh } from '../../components/time-ago.tsx';
import { toast } from '../../components/toasts.tsx';
import { DeliveriesDialog, reportDelivery } from './deliveries-dialog.tsx';
import { messages } from './messages.tsx';
import { CreateWebhookDialog, EditWebhookDialog, WebhookSecretDialog } from './webhook-dialogs.tsx';

/** The screen "Webhooks": the addresses that get the changes of a project. Only administrators see them. */
export function WebhooksPage() {
  const { project: name = '' } = useParams<{ project: string }>();
  const project = useProject(name);
  const canChange = useCan('admin');
  const webhooks = useWebhooks(name, canChange);
  useLiveWebhooks(name);

  return (
    <ListScreen
      texts={{ ...messages, intro: messages.intro(links.webhookGuide) }}
      project={name}
      command="webhook.new"
      reading={bothOf(project, webhooks)}
      isEmpty={([, list]) => list.length === 0}
      rows={3}
      icon={Webhook}
      canRead={canChange}
      canCreate={canChange}
      isReady={project.data !== undefined}
      dialog={(stop) => project.data && <CreateWebhookDialog project={project.data} onClose={stop} />}
    >
      {([found, list]) => <WebhookTable project={found} webhooks={list} />}
    </ListScreen>
  );
}

function WebhookTable({ project, webhooks }: { project: ProjectRecord; webhooks: readonly WebhookRecord[] }) {
  return (
    <RecordTable label={messages.list} columns={messages.columns}>
      {webhooks.map((webhook) => (
        <WebhookRow key={webhook.name} project={project} webhook={webhook} />
      ))}
    </RecordTable>
  );
}

/** The dialog of a webhook that is open; a new secret is only here. */
type OpenDialog = 'edit' | 'deliveries' | { readonly secret: string };

const [, statusColumn, changesColumn, waitingColumn, givenUpColumn] = messages.columns;

function WebhookRow({ project, webhook }: { project: ProjectRecord; webhook: WebhookRecord }) {
  const { name, url, environments, events, pendingSince, givenUp } = webhook;
  const [open, setOpen] = useState<OpenDialog>();
  const close = () => setOpen(undefined);

  return (
    <RecordRow isOver={webhook.status !== 'active'}>
      <RecordHead>
        <span className="block font-medium">{name}</span>
        <span className="block font-mono text-xs text-ink-3">{url}</span>
      </RecordHead>
      <RecordCell label={statusColumn.label}>
        <Status webhook={webhook} />
      </RecordCell>
      <RecordCell label={changesColumn.label}>
        {events.length === 0 ? messages.allChanges : messages.changesOf(events)}{' '}
        {environments.length === 0 ? messages.inAll : messages.inSome(environments)}
      </RecordCell>
      <RecordCell label={waitingColumn.label} className="lg:whitespace-nowrap">
        {pendingSince === undefined ? (
          <span className="text-ink-3">{messages.nothingWaits}</span>
        ) : (
          <TimeAgo at={pendingSince} />
        )}
      </RecordCell>
      <RecordCell label={givenUpColumn.label}>
        {givenUp === 0 ? (
          <span className="text-ink-3">{messages.noneGivenUp}</span>
        ) : (
          messages.givenUp(givenUp)
        )}
        {open === 'edit' && <EditWebhookDialog project={project} webhook={webhook} onClose={close} />}
        {open === 'deliveries' && <DeliveriesDialog project={project.name} name={name} onClose={close} />}
        {typeof open === 'object' && (
          <WebhookSecretDialog name={name} secret={open.secret} isReplaced onClose={close} />
        )}
      </RecordCell>
      <WebhookActions project={project} webhook={webhook} onOpen={setOpen} />
    </RecordRow>
  );
}

/** Whether an attempt is due, or was. */
function useIsDue(at: string | undefined): boolean {
  useTimeRefresh();
  return at !== undefined && Date.parse(at) - Date.now() < 5_000;
}

function Status({ webhook: { status, reason, nextAttemptAt } }: { webhook: WebhookRecord }) {
  const isDue = useIsDue(nextAttemptAt);
  if (status !== 'active') {
    return (
      <>
        <Badge kind={status === 'disabled' ? 'warn' : 'over'}>{messages.statuses[status]}</Badge>
        {reason !== undefined && <span className="mt-0.5 block text-xs text-ink-2">{reason}</span>}
      </>
    );
  }
  if (nextAttemptAt === undefined) return <Badge kind="good">{messages.statuses.active}</Badge>;

  return (
    <>
      <Badge kind="warn">{messages.statuses.failing}</Badge>
      <span className="mt-0.5 block text-xs text-ink-2">
        {isDue ? (
          messages.attemptDue
        ) : (
          <>
            {messages.nextAttempt} <TimeAgo at={nextAttemptAt} />
          </>
        )}
      </span>
    </>
  );
}

function WebhookActions({
  project,
  webhook,
  onOpen,
}: {
  project: ProjectRecord;
  webhook: WebhookRecord;
  onOpen: (dialog: OpenDialog) => void;
}) {
  const { name, status } = webhook;
  const [isTesting, setTesting] = useState(false);
  const perform = useAction();
  const confirm = useConfirm();
  const performConfirmed = useConfirmedAction();
  const stale = [queryKeys.webhooks(project.name)];

  async function test(): Promise<void> {
    setTesting(true);
    try {
      reportDelivery(name, await testWebhook(project.name, name));
    } catch (error) {
      toastFailure(messages.testFailed(name), error);
    } finally {
      setTesting(false);
    }
  }

  async function rotate(): Promise<void> {
    const question = {
      title: messages.rotateTitle(name),
      body: messages.rotateBody,
      action: messages.rotate,
    };
    if (!(await confirm(question))) return;
    try {
      onOpen({ secret: (await rotateWebhook(project.name, name)).secret });
    } catch (error) {
      toastFailure(messages.rotateFailed(name), error);
      if (isMade(error)) toast({ kind: 'problem', title: messages.secretLost });
    }
  }

  const setStatus = (next: 'active' | 'paused') =>
    perform({
      run: () => updateWebhook(project.name, name, { status: next }),
      done: next === 'active' ? messages.resumed(name) : messages.paused(name),
      failed: messages.statusFailed(name),
      stale,
    });

  const remove = () =>
    performConfirmed(
      {
        title: messages.deleteTitle(name),
        body: messages.deleteBody,
        action: messages.deleteAction,
        isDangerous: true,
      },
      {
        run: () => deleteWebhook(project.name, name),
        done: messages.deleted(name),
        failed: messages.deleteFailed(name),
        stale,
      },
    );

  return (
    <RecordActions>
      <Button aria-label={messages.testNamed(name)} disabled={isTesting} onClick={() => void test()}>
        {messages.test}
      </Button>
      <Button aria-label={messages.deliveriesNamed(name)} onClick={() => onOpen('deliveries')}>
        {messages.deliveries}
      </Button>
      <OverflowMenu label={messages.more(name)}>
        <MenuItem onSelect={() => onOpen('edit')}>
          <Pencil size={14} aria-hidden /> {messages.edit}
        </MenuItem>
        {status === 'active' ? (
          <MenuItem onSelect={() => void setStatus('paused')}>
            <Pause size={14} aria-hidden /> {messages.pause}
          </MenuItem>
        ) : (
          <MenuItem onSelect={() => void setStatus('active')}>
            <Play size={14} aria-hidden /> {messages.resume}
          </MenuItem>
        )}
        <MenuItem onSelect={() => void rotate()}>
          <RefreshCw size={14} aria-hidden /> {messages.rotate}
        </MenuItem>
        <MenuSeparator />
        <MenuItem isDangerous onSelect={() => void remove()}>
          <Trash size={14} aria-hidden /> {messages.delete}
        </MenuItem>
      </OverflowMenu>
    </RecordActions>
  );
}
