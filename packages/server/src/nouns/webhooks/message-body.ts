import { auditMembers } from '../../domain/audit.ts';
import { isoTime } from '../../domain/iso-time.ts';
import { rawJson, writeJson } from '../../domain/raw-json.ts';
import type { WebhookEvent, WebhookMessage, WebhookTarget } from './webhook.ts';

/** Events that a text names; more are counted only. */
const NAMED_EVENTS = 10;

/** Characters of a value in a text. */
const SHOWN_VALUE = 80;

/** The parts of a webhook that its messages depend on. */
type Receiver = Pick<WebhookTarget, 'format' | 'project' | 'name'>;

/** The body of a message about a change. `dashboardUrl` without a slash at the end. */
export function messageBody(webhook: Receiver, message: WebhookMessage, dashboardUrl: string): string {
  const { seq, at, actor, ip, note, events, omitted } = message;
  const { project, format } = webhook;
  const page = project === undefined ? 'audit' : `projects/${encodeURIComponent(project)}/${pageOf(message)}`;
  const url = `${dashboardUrl}/${page}`;
  if (project !== undefined && format === 'slack')
    return writeJson({ text: changeText(project, message, url) });

  // A webhook of the installation gets everything that the audit log says to administrators.
  const isWhole = project === undefined;
  return writeJson({
    type: isWhole ? 'audit' : 'change',
    timestamp: isoTime(at),
    data: {
      seq,
      project,
      actor,
      ip: isWhole ? ip : undefined,
      note,
      url,
      events: events.map((event) => ({
        ...(isWhole && { id: event.id }),
        action: event.action,
        ...(isWhole && { project: event.project }),
        environment: event.environment,
        target: event.target,
        before: rawJson(event.before),
        after: rawJson(event.after),
        truncated: event.isCut || undefined,
      })),
      omitted: omitted || undefined,
    },
  });
}

/** Where people see the change: a proposal that waits for them has a page of its own. */
function pageOf({ seq, events }: WebhookMessage): string {
  const proposed = events.find(
    ({ action }) => action === 'proposal.created' || action === 'proposal.emergency',
  );
  return proposed === undefined
    ? `history?change=${seq}`
    : `proposals/${encodeURIComponent(proposed.target)}`;
}

/** The body of a test message. */
export function pingBody({ format, project, name }: Receiver, at: number): string {
  if (format === 'slack') {
    return writeJson({
      text: escapeMarkup(`Halyard: this is a test of the webhook ${name} of the project ${project}.`),
    });
  }
  return writeJson({ type: 'ping', timestamp: isoTime(at), data: { project, webhook: name } });
}

function changeText(project: string, { actor, note, events, omitted }: WebhookMessage, url: string): string {
  const who = actor.replace(/^operator:/, '').replace(/^token:/, 'token ');
  // A schedule that ran is named by its changes, and in the note.
  const shown = events.filter(({ action }) => events.length === 1 || action !== 'schedule.applied');
  const named = shown.slice(0, NAMED_EVENTS).map((event) => `• ${eventText(event)}`);
  const more = shown.length - named.length + omitted;
  const lines = [
    `${who} changed ${project}${note === undefined ? '' : ` (${note})`}:`,
    ...named,
    ...(more > 0 ? [`• and ${more} more`] : []),
  ];
  return `${escapeMarkup(lines.join('\n'))}\n${url}`;
}

function eventText({ action, environment, target, before, after, isCut }: WebhookEvent): string {
  const place = environment === undefined || action.startsWith('environment.') ? '' : ` in ${environment}`;
  const [noun = '', verb = ''] = action.split('.');
  // The id of a key or a schedule says less than its name or its flags.
  const name = nameIn(after) ?? nameIn(before) ?? target;
  if (action !== 'flag.changed') return `${noun} ${name} ${verb.replaceAll('_', ' ')}${place}`;
  if (isCut) return `${target}${place} changed`;
  return `${target}${place}: ${stateText(before)} → ${stateText(after)}`;
}

function nameIn(text: string | undefined): string | undefined {
  const { name, changes } = auditMembers(text);
  if (!Array.isArray(changes)) return typeof name === 'string' ? name : undefined;
  return `of ${shorten(changes.map((change: { readonly key?: unknown }) => String(change?.key)).join(', '))}`;
}

function stateText(text: string | undefined): string {
  if (text === undefined) return 'absent';
  const { enabled, value, rolloutPct } = auditMembers(text);
  const parts = [enabled === true ? 'on' : 'off'];
  if (value !== undefined) parts.push(shorten(JSON.stringify(value)));
  if (rolloutPct !== undefined) parts.push(`${String(rolloutPct)}%`);
  return parts.join(', ');
}

function shorten(text: string): string {
  const characters = [...text];
  return characters.length <= SHOWN_VALUE ? text : `${characters.slice(0, SHOWN_VALUE - 1).join('')}…`;
}

/** Slack reads these three characters as markup; other chat programs show them as they were. */
function escapeMarkup(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
