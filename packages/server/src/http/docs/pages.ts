import { ERROR_STATUS, type ErrorCode } from '@halyard/protocol';
import goReadme from '../../../../../clients/go/README.md' with { type: 'text' };
import javaReadme from '../../../../../clients/java/README.md' with { type: 'text' };
import pythonReadme from '../../../../../clients/python/README.md' with { type: 'text' };
import architecture from '../../../../../docs/architecture.md' with { type: 'text' };
import clientContract from '../../../../../docs/client-contract.md' with { type: 'text' };
import alreadyExists from '../../../../../docs/errors/already_exists.md' with { type: 'text' };
import alreadyPlanned from '../../../../../docs/errors/already_planned.md' with { type: 'text' };
import approvalRequired from '../../../../../docs/errors/approval_required.md' with { type: 'text' };
import confirmationRequired from '../../../../../docs/errors/confirmation_required.md' with { type: 'text' };
import environmentNotFound from '../../../../../docs/errors/environment_not_found.md' with { type: 'text' };
import flagArchived from '../../../../../docs/errors/flag_archived.md' with { type: 'text' };
import flagNotArchived from '../../../../../docs/errors/flag_not_archived.md' with { type: 'text' };
import flagNotFound from '../../../../../docs/errors/flag_not_found.md' with { type: 'text' };
import forbidden from '../../../../../docs/errors/forbidden.md' with { type: 'text' };
import internalError from '../../../../../docs/errors/internal_error.md' with { type: 'text' };
import invalidAccessToken from '../../../../../docs/errors/invalid_access_token.md' with { type: 'text' };
import invalidApiKey from '../../../../../docs/errors/invalid_api_key.md' with { type: 'text' };
import invalidArgument from '../../../../../docs/errors/invalid_argument.md' with { type: 'text' };
import invitationInvalid from '../../../../../docs/errors/invitation_invalid.md' with { type: 'text' };
import keyEnded from '../../../../../docs/errors/key_ended.md' with { type: 'text' };
import keyNotFound from '../../../../../docs/errors/key_not_found.md' with { type: 'text' };
import methodNotAllowed from '../../../../../docs/errors/method_not_allowed.md' with { type: 'text' };
import notFound from '../../../../../docs/errors/not_found.md' with { type: 'text' };
import notRevertible from '../../../../../docs/errors/not_revertible.md' with { type: 'text' };
import notSignedIn from '../../../../../docs/errors/not_signed_in.md' with { type: 'text' };
import projectNotFound from '../../../../../docs/errors/project_not_found.md' with { type: 'text' };
import proposalClosed from '../../../../../docs/errors/proposal_closed.md' with { type: 'text' };
import rateLimited from '../../../../../docs/errors/rate_limited.md' with { type: 'text' };
import reasonRequired from '../../../../../docs/errors/reason_required.md' with { type: 'text' };
import revisionConflict from '../../../../../docs/errors/revision_conflict.md' with { type: 'text' };
import signInFailed from '../../../../../docs/errors/sign_in_failed.md' with { type: 'text' };
import gettingStarted from '../../../../../docs/getting-started.md' with { type: 'text' };
import glossary from '../../../../../docs/glossary.md' with { type: 'text' };
import growing from '../../../../../docs/growing.md' with { type: 'text' };
import languages from '../../../../../docs/languages.md' with { type: 'text' };
import moving from '../../../../../docs/moving.md' with { type: 'text' };
import agents from '../../../../../docs/operations/agents.md' with { type: 'text' };
import approvals from '../../../../../docs/operations/approvals.md' with { type: 'text' };
import audit from '../../../../../docs/operations/audit.md' with { type: 'text' };
import backup from '../../../../../docs/operations/backup.md' with { type: 'text' };
import cleanUp from '../../../../../docs/operations/clean-up.md' with { type: 'text' };
import cli from '../../../../../docs/operations/cli.md' with { type: 'text' };
import delivery from '../../../../../docs/operations/delivery.md' with { type: 'text' };
import drain from '../../../../../docs/operations/drain.md' with { type: 'text' };
import failover from '../../../../../docs/operations/failover.md' with { type: 'text' };
import failures from '../../../../../docs/operations/failures.md' with { type: 'text' };
import flagd from '../../../../../docs/operations/flagd.md' with { type: 'text' };
import flagsAsCode from '../../../../../docs/operations/flags-as-code.md' with { type: 'text' };
import health from '../../../../../docs/operations/health.md' with { type: 'text' };
import history from '../../../../../docs/operations/history.md' with { type: 'text' };
import install from '../../../../../docs/operations/install.md' with { type: 'text' };
import kubernetes from '../../../../../docs/operations/kubernetes.md' with { type: 'text' };
import lastKnownFlags from '../../../../../docs/operations/last-known-flags.md' with { type: 'text' };
import lists from '../../../../../docs/operations/lists.md' with { type: 'text' };
import logs from '../../../../../docs/operations/logs.md' with { type: 'text' };
import metrics from '../../../../../docs/operations/metrics.md' with { type: 'text' };
import namedValues from '../../../../../docs/operations/named-values.md' with { type: 'text' };
import offBoarding from '../../../../../docs/operations/off-boarding.md' with { type: 'text' };
import oneNode from '../../../../../docs/operations/one-node.md' with { type: 'text' };
import people from '../../../../../docs/operations/people.md' with { type: 'text' };
import pooler from '../../../../../docs/operations/pooler.md' with { type: 'text' };
import projectAsCode from '../../../../../docs/operations/project-as-code.md' with { type: 'text' };
import proxies from '../../../../../docs/operations/proxies.md' with { type: 'text' };
import publishing from '../../../../../docs/operations/publishing.md' with { type: 'text' };
import relays from '../../../../../docs/operations/relays.md' with { type: 'text' };
import rights from '../../../../../docs/operations/rights.md' with { type: 'text' };
import roles from '../../../../../docs/operations/roles.md' with { type: 'text' };
import rollouts from '../../../../../docs/operations/rollouts.md' with { type: 'text' };
import schedules from '../../../../../docs/operations/schedules.md' with { type: 'text' };
import security from '../../../../../docs/operations/security.md' with { type: 'text' };
import settings from '../../../../../docs/operations/settings.md' with { type: 'text' };
import severalNodes from '../../../../../docs/operations/several-nodes.md' with { type: 'text' };
import siem from '../../../../../docs/operations/siem.md' with { type: 'text' };
import signIn from '../../../../../docs/operations/sign-in.md' with { type: 'text' };
import sizing from '../../../../../docs/operations/sizing.md' with { type: 'text' };
import sso from '../../../../../docs/operations/sso.md' with { type: 'text' };
import standby from '../../../../../docs/operations/standby.md' with { type: 'text' };
import tickets from '../../../../../docs/operations/tickets.md' with { type: 'text' };
import upgrade from '../../../../../docs/operations/upgrade.md' with { type: 'text' };
import usage from '../../../../../docs/operations/usage.md' with { type: 'text' };
import webhooks from '../../../../../docs/operations/webhooks.md' with { type: 'text' };
import workers from '../../../../../docs/operations/workers.md' with { type: 'text' };
import operations from '../../../../../docs/operations.md' with { type: 'text' };
import performance from '../../../../../docs/performance.md' with { type: 'text' };
import specification from '../../../../../docs/specification.md' with { type: 'text' };
import clientApi from '../../../../../packages/client/API.md' with { type: 'text' };
import clientGuide from '../../../../../packages/client/GUIDE.md' with { type: 'text' };
import clientReadme from '../../../../../packages/client/README.md' with { type: 'text' };
import securityPolicy from '../../../../../SECURITY.md' with { type: 'text' };
import support from '../../../../../SUPPORT.md' with { type: 'text' };

/** The page of every error code, as Markdown. A code without a page does not compile. (Spec: S7.3) */
export const ERROR_PAGES: Readonly<Record<ErrorCode, string>> = {
  invalid_api_key: invalidApiKey,
  invalid_argument: invalidArgument,
  environment_not_found: environmentNotFound,
  flag_not_found: flagNotFound,
  rate_limited: rateLimited,
  internal_error: internalError,
  not_found: notFound,
  method_not_allowed: methodNotAllowed,
  invalid_access_token: invalidAccessToken,
  project_not_found: projectNotFound,
  key_not_found: keyNotFound,
  key_ended: keyEnded,
  already_exists: alreadyExists,
  revision_conflict: revisionConflict,
  not_signed_in: notSignedIn,
  sign_in_failed: signInFailed,
  forbidden: forbidden,
  invitation_invalid: invitationInvalid,
  flag_archived: flagArchived,
  flag_not_archived: flagNotArchived,
  not_revertible: notRevertible,
  already_planned: alreadyPlanned,
  approval_required: approvalRequired,
  proposal_closed: proposalClosed,
  reason_required: reasonRequired,
  confirmation_required: confirmationRequired,
};

/** The clients' pages have other names in the repository; licenses and tests are not pages. */
function withClientLinks(markdown: string): string {
  return markdown
    .replaceAll(/\]\((?:\.\.\/packages\/client\/)?README\.md/g, '](client.md')
    .replaceAll(/\]\((?:\.\.\/packages\/client\/)?GUIDE\.md/g, '](client-guide.md')
    .replaceAll('](API.md', '](client-api.md')
    .replaceAll(/\]\(\.\.\/clients\/(\w+)\/README\.md/g, '](client-$1.md')
    .replaceAll('](../../docs/', '](')
    .replaceAll(
      /\[([^\]]+)\]\((?:\.\.\/\.\.\/(?:conformance\/clients\/README\.md|LICENSE)|LICENSE)\)/g,
      '$1',
    );
}

/** The pages beside the folder of the documentation, without links to the list of changes, which has no page. */
function withRootLinks(markdown: string): string {
  return markdown
    .replaceAll('](docs/', '](')
    .replaceAll('](SECURITY.md', '](security.md')
    .replaceAll('](SUPPORT.md', '](support.md')
    .replaceAll(/\[([^\]]+)\]\(CHANGELOG\.md\)/g, '$1');
}

/** The guides by the last part of their address, in reading order. */
export const GUIDES: ReadonlyMap<string, string> = new Map([
  ['getting-started', withClientLinks(gettingStarted)],
  ['languages', withClientLinks(languages)],
  ['client-contract', clientContract],
  ['client', withClientLinks(clientReadme)],
  ['client-guide', withClientLinks(clientGuide)],
  ['client-api', withClientLinks(clientApi)],
  ['client-python', withClientLinks(pythonReadme)],
  ['client-go', withClientLinks(goReadme)],
  ['client-java', withClientLinks(javaReadme)],
  ['specification', specification],

  ['support', withRootLinks(support)],
  ['security', withRootLinks(securityPolicy)],

  ['operations', operations],
  ['operations/install', install],
  ['operations/one-node', oneNode],
  ['operations/several-nodes', severalNodes],
  ['operations/kubernetes', kubernetes],
  ['operations/workers', workers],
  ['operations/relays', relays],
  ['operations/proxies', proxies],
  ['operations/tickets', tickets],

  ['operations/settings', settings],
  ['operations/failover', failover],
  ['operations/standby', standby],
  ['operations/pooler', pooler],
  ['operations/last-known-flags', lastKnownFlags],

  ['operations/people', people],
  ['operations/roles', roles],
  ['operations/rights', rights],
  ['operations/sign-in', signIn],
  ['operations/sso', sso],
  ['operations/off-boarding', offBoarding],

  ['operations/cli', cli],
  ['operations/lists', lists],
  ['operations/agents', agents],

  ['operations/history', history],
  ['operations/audit', audit],
  ['operations/siem', siem],

  ['operations/schedules', schedules],
  ['operations/rollouts', rollouts],
  ['operations/approvals', approvals],
  ['operations/clean-up', cleanUp],
  ['operations/flags-as-code', flagsAsCode],
  ['operations/project-as-code', projectAsCode],
  ['operations/named-values', namedValues],

  ['operations/delivery', delivery],
  ['operations/usage', usage],
  ['operations/webhooks', webhooks],
  ['operations/publishing', publishing],
  ['operations/flagd', flagd],

  ['operations/health', health],
  ['operations/metrics', metrics],
  ['operations/logs', logs],

  ['operations/backup', backup],
  ['operations/upgrade', upgrade],
  ['operations/drain', drain],
  ['operations/sizing', sizing],
  ['operations/security', security],
  ['operations/failures', failures],

  ['moving', withClientLinks(moving)],
  ['growing', growing],
  ['performance', performance],
  ['architecture', architecture],
  ['glossary', glossary],
]);

/** The documentation of one error code, as programs read it. Every text is Markdown. */
export interface ErrorPage {
  readonly error: ErrorCode;
  /** The HTTP status that the code always comes with. */
  readonly status: number;
  readonly title: string;
  /** The cause of this answer. */
  readonly cause: string;
  /** How the caller can fix it. */
  readonly fix: string;
  /** A request that causes it, and the answer. */
  readonly example: string;
  /** How the client library reports it. */
  readonly client: string;
}

/** Splits a code's page into its sections. Throws when the page lacks one. */
export function readErrorPage(code: ErrorCode, markdown: string): ErrorPage {
  const [head = '', ...rest] = markdown.split(/^## /m);
  const sections = new Map(rest.map(splitHeading));
  const section = (heading: string): string => {
    const text = sections.get(heading);
    if (!text) throw new Error(`the page of ${code} has no section "${heading}"`);
    return text;
  };
  return {
    error: code,
    status: ERROR_STATUS[code],
    title: readTitle(head),
    cause: section('Cause'),
    fix: section('What to do'),
    example: section('Example'),
    client: section('In a client library'),
  };
}

/** The first heading of a Markdown text, without backticks. */
export function readTitle(markdown: string): string {
  const title = /^# (.+)$/m.exec(markdown)?.[1];
  if (title === undefined) throw new Error('the page has no title');
  return title.replaceAll('`', '');
}

function splitHeading(section: string): [heading: string, text: string] {
  const end = section.indexOf('\n');
  return [section.slice(0, end).trim(), section.slice(end).trim()];
}
