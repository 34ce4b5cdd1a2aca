import { leaveAtOnce } from '../shell/leave-guard.ts';
import type { SessionRecord } from './types.ts';

/**
 * What the page goes on with when the server says how the session stands. One that has ended keeps its operator: the
 * screen stays as it is until they sign in again. Somebody else must see nothing of it, so the page is loaded anew, and
 * what was known stays until then. `to` is where it is loaded anew.
 */
export function keptSession(
  before: SessionRecord | undefined,
  next: SessionRecord,
  to = location.pathname + location.search,
): SessionRecord {
  if (before?.operator === undefined) return next;
  if (!next.signedIn) return { ...before, signedIn: false };
  if (next.operator?.id === before.operator.id) return next;
  leaveAtOnce(to);
  return before;
}
