import { pathOf } from '../http/request.ts';
import type { HeavyCall } from '../management/api/heavy-call.ts';
import { ManagementApp } from '../management/api/management-app.ts';
import type { ManagementContext } from '../management/context.ts';
import { proposalDesk } from '../nouns/proposals/proposal-desk.ts';
import { mountNouns } from './nouns.ts';

/** The heavy operations over `context`, for the thread: without authentication, and errors are thrown. */
export function createHeavyOperations(context: ManagementContext): (call: HeavyCall) => Promise<Response> {
  const app = new ManagementApp({ proposals: proposalDesk(context) });

  const answer = async ({ url, actor, isDocument: _, ...init }: HeavyCall) => {
    const raw = new Request(url, init);
    const { route, params = {} } = app.find(raw.method, pathOf(raw)) ?? {};
    if (route === undefined || 'answerAnyone' in route)
      throw new Error(`${raw.method} ${pathOf(raw)} cannot run on the thread: its noun needs the node`);
    // The node that sent the call checks the rights, and the commit does.
    return route.answer({ raw, requestId: '', params }, { actor, stillValid: async () => true });
  };

  mountNouns(app, context, answer);
  return answer;
}
