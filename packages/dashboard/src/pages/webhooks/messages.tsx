import { LOCALE } from '../../components/time-ago.tsx';

/** The texts of the screen "Webhooks". */
export const messages = {
  title: 'Webhooks',
  intro: (docs: string) => (
    <>
      A webhook sends each change of this project to another system: a chat, a pipeline, an incident tool.{' '}
      <a href={docs} className="text-accent underline">
        How to verify messages
      </a>
    </>
  ),
  readOnly: 'Viewing and managing webhooks',
  create: 'New webhook',
  emptyTitle: 'No webhooks yet',
  empty: 'Create one to post changes to a chat, or to run a job whenever a flag changes.',

  // Webhooks of the whole installation
  installation: {
    title: 'Audit webhooks',
    intro: (docs: string) => (
      <>
        An audit webhook sends every entry of the audit log to another system, such as a SIEM: all projects,
        people, tokens and sign-ins.{' '}
        <a href={docs} className="text-accent underline">
          How to connect a SIEM
        </a>
      </>
    ),
    readOnly: 'Viewing and managing audit webhooks',
    create: 'New audit webhook',
    emptyTitle: 'No audit webhooks yet',
    empty: 'Create one to keep a copy of the audit log in another system.',
    everyEntry: 'Every entry of the audit log',
  },

  // The list
  stuckAt: 'Stuck at',
  list: 'Webhooks',
  columns: [
    { label: 'Webhook' },
    { label: 'Status' },
    { label: 'Last 24 hours' },
    { label: 'Waiting' },
    { label: 'Actions', isSilent: true },
  ],
  statuses: { active: 'active', failing: 'failing', paused: 'paused', disabled: 'disabled' },
  attemptDue: 'The next attempt is due',
  nextAttempt: 'Next attempt',
  nothingWaits: 'nothing',
  waiting: (count: number, isMore: boolean) =>
    `${count.toLocaleString(LOCALE)}${isMore ? '+' : ''} ${count === 1 && !isMore ? 'change' : 'changes'}`,
  since: 'since ',
  failure: (status: number, text: string) => (text.startsWith(`${status} `) ? text : `${status} · ${text}`),
  noAnswer: 'no text in the response',
  noAttempts: 'no attempts',
  attempts: (delivered: number, failed: number) =>
    [
      ...(delivered > 0 ? [`${delivered.toLocaleString(LOCALE)} delivered`] : []),
      ...(failed > 0 ? [`${failed.toLocaleString(LOCALE)} failed`] : []),
    ].join(', '),
  hour: (hour: string, attempts: string) => `${hour}: ${attempts}`,
  givenUp: (count: number) => `${count.toLocaleString(LOCALE)} given up after a day of retries`,
  allChanges: 'All changes',
  changesOf: (events: readonly string[]) => `Only ${events.join(', ')} changes`,
  inAll: 'in all environments',
  inSome: (environments: readonly string[]) => `in ${environments.join(', ')}`,
  more: (name: string) => `More actions for ${name}`,

  // Creating and changing
  createTitle: 'New webhook',
  createAction: 'Create webhook',
  created: 'Webhook created',
  saved: (name: string) => `${name} updated`,
  editTitle: (name: string) => `Edit ${name}`,
  editAction: 'Save',
  nameHint: 'Lower-case letters, digits and “-”, such as “chat”.',
  nameMissing: 'Enter a name of lower-case letters, digits and “-”.',
  url: 'Address',
  urlHint:
    'A public address with https://. To allow a private network, set HALYARD_WEBHOOK_NETWORKS on the server.',
  urlKept: 'Leave empty to keep the address.',
  urlMissing: 'Enter an address that begins with https://.',
  urlCredentials: 'Leave out the user name and password. Messages are signed instead.',
  urlRefused:
    "The server doesn't send to this address. Use a public one with https://, or allow its network with HALYARD_WEBHOOK_NETWORKS.",
  format: 'Format',
  formats: [
    ['json', 'JSON with all details'],
    ['slack', 'Text for Slack, Mattermost and others'],
  ],
  environments: 'Environments',
  anyEnvironment: 'All environments',
  events: 'Kinds of changes',
  anyEvent: 'All changes',

  // The secret
  secretTitle: (name: string) => `Signing secret of ${name}`,
  secretKind: 'secret',
  secretLost:
    'The connection was lost before the signing secret could be shown. Use “Replace secret” in the menu of the webhook to get one.',
  secretUse: 'The receiver uses it to verify messages.',
  secretOverlap: 'For 24 hours, messages are signed with the old secret too.',

  // Actions
  test: 'Send test',
  testNamed: (name: string) => `Send test to ${name}`,
  tested: (status: number | undefined, ms: number) => `The receiver answered ${status} after ${ms} ms`,
  testFailed: (name: string) => `${name} did not accept the message`,
  deliveries: 'Deliveries',
  deliveriesNamed: (name: string) => `Deliveries of ${name}`,
  edit: 'Edit',
  pause: 'Pause',
  paused: (name: string) => `${name} paused`,
  resume: 'Resume',
  resumed: (name: string) => `${name} resumed`,
  statusFailed: (name: string) => `${name} could not be changed`,
  skip: 'Skip this change',
  skipNamed: (seq: number) => `Skip this change: ${seq}`,
  skipping: (seq: number, name: string, isActive: boolean) => ({
    title: `Skip change ${seq}?`,
    body: `${name} never gets this change. ${isActive ? 'The changes behind it are sent at once.' : 'The changes behind it wait until you resume the webhook.'}`,
    action: 'Skip change',
    done: `Change ${seq} skipped`,
    failed: `Change ${seq} was not skipped`,
  }),
  skipAll: 'Skip all waiting',
  skippingAll: (waiting: string, name: string, isActive: boolean) => ({
    title: `Skip ${waiting}?`,
    body: `${name} gets only the changes made from now on.`,
    action: 'Skip all',
    done: `${waiting} skipped: ${name} continues ${isActive ? 'with the next one' : 'once you resume it'}`,
    failed: `The waiting changes of ${name} were not skipped`,
  }),
  rotate: 'Replace secret',
  rotating: (name: string) => ({
    title: `Replace the secret of ${name}?`,
    body: 'You get a new signing secret. For 24 hours, messages are signed with both.',
    action: 'Replace secret',
  }),
  rotateFailed: (name: string) => `The secret of ${name} could not be replaced`,
  delete: 'Delete',
  deleting: (name: string) => ({
    title: `Delete ${name}?`,
    body: "Changes still waiting are not sent. This can't be undone.",
    action: 'Delete webhook',
    done: `${name} deleted`,
    failed: `${name} could not be deleted`,
  }),
  // Deliveries
  deliveriesIntro: 'The last 100 attempts by change, newest first.',
  noDeliveries: 'Nothing has been sent yet.',
  refresh: 'Refresh',
  outcomes: { delivered: 'delivered', failed: 'failed', 'given-up': 'given up' },
  triggers: { change: undefined, replay: 'replay', test: 'test' },
  inEnvironment: (environment: string) => `in ${environment}`,
  testMessage: 'Test message',
  attemptsSince: (count: number) => `${count} attempts, the first `,
  earlier: (count: number) => (count === 1 ? '1 earlier attempt' : `${count} earlier attempts`),
  took: (ms: number) => `${ms} ms`,
  answer: 'Response',
  replay: 'Send again',
  replayNamed: (seq: number) => `Send again: change ${seq}`,
} as const;
