import Pause from 'lucide-react/icons/pause';
import Pencil from 'lucide-react/icons/pencil';
import Play from 'lucide-react/icons/play';
import RefreshCw from 'lucide-react/icons/refresh-cw';
import SkipForward from 'lucide-react/icons/skip-forward';
import StepForward from 'lucide-react/icons/step-forward';
import Trash from 'lucide-react/icons/trash-2';
import { useState } from 'react';
import { isMade } from '../../api/api-error.ts';
import { queryKeys } from '../../api/query-cache.ts';
import type { WebhookRecord } from '../../api/types.ts';
import { deleteWebhook, rotateWebhook, testWebhook, updateWebhook } from '../../api/webhooks.ts';
import { toastFailure, useAction, useConfirmedAction } from '../../components/actions.tsx';
import { Button } from '../../components/button.tsx';
import { useConfirm } from '../../components/confirm.tsx';
import { MenuItem, MenuSeparator, OverflowMenu } from '../../components/menu.tsx';
import { RecordActions } from '../../components/tables.tsx';
import { toast } from '../../components/toasts.tsx';
import { reportDelivery } from './deliveries-dialog.tsx';
import { messages } from './messages.tsx';
import { useSkip } from './skip.ts';
import type { WebhookPlace } from './webhook-dialogs.tsx';

/** The dialog of a webhook that is open; a new secret is only here. */
export type OpenDialog = 'edit' | 'deliveries' | { readonly secret: string };

/** The buttons and the menu of a webhook. */
export function WebhookActions({
  project,
  webhook,
  onOpen,
}: {
  project: WebhookPlace;
  webhook: WebhookRecord;
  onOpen: (dialog: OpenDialog) => void;
}) {
  const { name, status, pendingSince } = webhook;
  const skip = useSkip(project.name, webhook);
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
    if (!(await confirm(messages.rotating(name)))) return;
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
    performConfirmed({
      ...messages.deleting(name),
      isDangerous: true,
      run: () => deleteWebhook(project.name, name),
      stale,
    });

  return (
    <RecordActions>
      <Button aria-label={messages.testNamed(name)} disabled={isTesting} onClick={() => void test()}>
        {messages.test}
      </Button>
      <Button aria-label={messages.deliveriesNamed(name)} onClick={() => onOpen('deliveries')}>
        {messages.deliveries}
      </Button>

      <OverflowMenu label={messages.more(name)}>
        <MenuItem icon={Pencil} label={messages.edit} onSelect={() => onOpen('edit')} />
        {status === 'active' ? (
          <MenuItem icon={Pause} label={messages.pause} onSelect={() => void setStatus('paused')} />
        ) : (
          <MenuItem icon={Play} label={messages.resume} onSelect={() => void setStatus('active')} />
        )}

        {skip.one && <MenuItem icon={StepForward} label={messages.skip} onSelect={skip.one} />}
        {pendingSince !== undefined && (
          <MenuItem icon={SkipForward} label={messages.skipAll} onSelect={skip.all} />
        )}

        <MenuItem icon={RefreshCw} label={messages.rotate} onSelect={() => void rotate()} />
        <MenuSeparator />
        <MenuItem icon={Trash} isDangerous label={messages.delete} onSelect={() => void remove()} />
      </OverflowMenu>
    </RecordActions>
  );
}
