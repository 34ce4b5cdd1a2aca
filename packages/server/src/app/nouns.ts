import type { Logger } from 'pino';
import type { DeliveryReader } from '../domain/delivery.ts';
import type { OpenStream } from '../domain/read-side.ts';
import type { ManagementApp } from '../management/api/management-app.ts';
import type { ManagementContext } from '../management/context.ts';
import { mountAccessTokens } from '../nouns/access-tokens/access-token-routes.ts';
import { mountAuditChain } from '../nouns/audit-chain/chain-routes.ts';
import { mountCodeReferences } from '../nouns/code-references/code-reference-routes.ts';
import { type DashboardEvents, mountDeliveries, mountEvents } from '../nouns/deliveries/delivery-routes.ts';
import { mountImportExport } from '../nouns/documents/document-routes.ts';
import { mountEnvironments } from '../nouns/environments/environment-routes.ts';
import { mountBulkArchive, mountFlagArchive, mountFlags } from '../nouns/flags/flag-routes.ts';
import { mountFollow } from '../nouns/history/follow-routes.ts';
import { mountAudit, mountHistory } from '../nouns/history/history-routes.ts';
import { mountReferences } from '../nouns/history/reference-routes.ts';
import type { RunningReferences } from '../nouns/history/references.ts';
import { mountProjectKeys } from '../nouns/keys/key-routes.ts';
import { mountHoldings } from '../nouns/people/holdings-routes.ts';
import { mountInvitations, mountSetup } from '../nouns/people/invitation-routes.ts';
import { mountOperators } from '../nouns/people/operator-routes.ts';
import type { PeopleContext } from '../nouns/people/people.ts';
import { mountPassword, mountSession } from '../nouns/people/session-routes.ts';
import { mountOverview } from '../nouns/projects/overview-routes.ts';
import { mountProjects } from '../nouns/projects/project-routes.ts';
import { mountProposals } from '../nouns/proposals/proposal-routes.ts';
import type { Repeat } from '../nouns/proposals/proposals.ts';
import { mountPublications } from '../nouns/publishing/publication-routes.ts';
import { mountRelayTokens } from '../nouns/relays/relay-token-routes.ts';
import { mountRolloutPlans } from '../nouns/rollouts/rollout-routes.ts';
import { mountSchedules } from '../nouns/schedules/schedule-routes.ts';
import { mountSearch } from '../nouns/search/search-routes.ts';
import { mountSso } from '../nouns/sso/sso-routes.ts';
import { mountCopy } from '../nouns/states/copy-routes.ts';
import { mountChanges, mountFlagStates, mountStream } from '../nouns/states/state-routes.ts';
import { mountUsage } from '../nouns/usage/usage-routes.ts';
import { mountWebhooks } from '../nouns/webhooks/webhook-routes.ts';
import type { WebhookSender } from '../nouns/webhooks/webhook-sender.ts';

/** What some nouns need of the node itself; the thread of heavy operations has none of it. */
export interface NodeParts {
  readonly context: PeopleContext;
  readonly log: Logger;
  readonly openStream: OpenStream;
  readonly events: DashboardEvents;
  readonly deliveries: DeliveryReader;
  readonly webhooks: WebhookSender;
}

/** Mounts what comes before authentication: signing in, single sign-on, and links. */
export function mountPublicNouns(app: ManagementApp, { context, log }: NodeParts): void {
  mountSession(app, context, log);
  mountSso(app, context, log);
  mountSetup(app, context);
}

/**
 * Mounts every other noun, once: in the whole API, with `node`, and in the thread. Where a call runs is decided by `isHeavy` of
 * its operation alone, which may be of any noun that needs no part of the node. `repeat` runs what was proposed.
 */
export function mountNouns(
  app: ManagementApp,
  context: ManagementContext,
  repeat: Repeat,
  node?: NodeParts & { readonly running: RunningReferences },
): void {
  mountProposals(app, { ...context, repeat });
  mountProjects(app, context);
  mountOverview(app, context);
  mountEnvironments(app, context);
  mountFlags(app, context);
  mountFlagArchive(app, context);
  mountFlagStates(app, context);
  mountChanges(app, context);
  mountProjectKeys(app, context);
  mountImportExport(app, context);
  mountAudit(app, context);
  mountFollow(app, context);
  mountAuditChain(app, context);
  mountHistory(app, context);
  mountCopy(app, context);
  mountSchedules(app, context);
  mountRolloutPlans(app, context);
  mountSearch(app, context);
  mountUsage(app, context);
  mountCodeReferences(app, context);
  mountAccessTokens(app, context);
  mountRelayTokens(app, context);
  mountPublications(app, context);

  if (node === undefined) return;
  const { running, events, deliveries, webhooks } = node;
  mountReferences(app, context, running);
  mountPassword(app, node.context);
  mountOperators(app, node.context);
  mountHoldings(app, node.context);
  mountInvitations(app, node.context);
  mountBulkArchive(app, context, node.log);
  mountStream(app, node.openStream);
  mountEvents(app, events);
  mountDeliveries(app, context, deliveries);
  mountWebhooks(app, { ...context, sender: webhooks });
}
