import { LOCALE } from '../../components/time-ago.tsx';

const local = new Intl.DateTimeFormat(LOCALE, { dateStyle: 'medium', timeStyle: 'short' });
const utc = new Intl.DateTimeFormat(LOCALE, { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' });

/** A time in the person's zone and in UTC. `at` is ISO 8601, or local as a `datetime-local` field has it. */
export function dueText(at: string): { readonly local: string; readonly utc: string } {
  const date = new Date(at);
  return { local: local.format(date), utc: `${utc.format(date)} UTC` };
}

/** The zone that local times are in, as `Europe/Berlin`. */
export function localZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}
