import Webhook from 'lucide-react/icons/webhook';
import { useCanEverywhere } from '../../api/session.ts';
import { INSTALLATION, useLiveWebhooks, useWebhooks } from '../../api/webhooks.ts';
import { links } from '../../browser/links.ts';
import { ListScreen } from '../../components/list-screen.tsx';
import { RecordTable } from '../../components/tables.tsx';
import { messages } from './messages.tsx';
import { CreateWebhookDialog } from './webhook-dialogs.tsx';
import { WebhookRow } from './webhook-row.tsx';

/** Stands for the project of these webhooks. They get all entries, so there are no environments to choose from. */
const PLACE = { name: INSTALLATION, environments: [] } as const;

/** The screen "Audit webhooks": the addresses that get every entry of the audit log. Only administrators see them. */
export function InstallationWebhooksPage() {
  const canChange = useCanEverywhere('admin');
  const webhooks = useWebhooks(INSTALLATION, canChange);
  useLiveWebhooks(INSTALLATION);

  return (
    <ListScreen
      texts={{ ...messages, ...messages.installation, intro: messages.installation.intro(links.siemGuide) }}
      command="audit-webhook.new"
      reading={webhooks}
      isEmpty={(list) => list.length === 0}
      rows={2}
      icon={Webhook}
      canRead={canChange}
      canCreate={canChange}
      dialog={(stop) => <CreateWebhookDialog project={PLACE} onClose={stop} />}
    >
      {(list) => (
        <RecordTable label={messages.installation.title} columns={messages.columns}>
          {list.map((webhook) => (
            <WebhookRow key={webhook.name} project={PLACE} webhook={webhook} />
          ))}
        </RecordTable>
      )}
    </ListScreen>
  );
}
