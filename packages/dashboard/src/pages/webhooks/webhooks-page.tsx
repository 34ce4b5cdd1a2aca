import Webhook from 'lucide-react/icons/webhook';
import { useParams } from 'wouter';
import { useProject } from '../../api/projects.ts';
import { useCan } from '../../api/session.ts';
import { useLiveWebhooks, useWebhooks } from '../../api/webhooks.ts';
import { links } from '../../browser/links.ts';
import { ListScreen } from '../../components/list-screen.tsx';
import { bothOf } from '../../components/screen-states.tsx';
import { RecordTable } from '../../components/tables.tsx';
import { messages } from './messages.tsx';
import { CreateWebhookDialog } from './webhook-dialogs.tsx';
import { WebhookRow } from './webhook-row.tsx';

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
      {([found, list]) => (
        <RecordTable label={messages.list} columns={messages.columns}>
          {list.map((webhook) => (
            <WebhookRow key={webhook.name} project={found} webhook={webhook} />
          ))}
        </RecordTable>
      )}
    </ListScreen>
  );
}
