import type { NodeProcess } from '@halyard/testing';
import { ENVIRONMENT, flagKey, PROJECT } from './fixture.ts';
import type { ChangeRequest } from './workers/stream-reader.ts';

/** The request that gives a flag of the node another value, for a process that sends it by itself. */
export function changeRequest(
  node: Pick<NodeProcess, 'url' | 'adminToken'>,
  serial: number,
  environment: string = ENVIRONMENT,
): ChangeRequest {
  return {
    url: `${node.url}/api/projects/${PROJECT}/environments/${environment}/flags/${flagKey(0)}`,
    method: 'PUT',
    headers: { authorization: `Bearer ${node.adminToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({ enabled: true, value: `variant ${serial} of a text`, rolloutPct: 0 }),
  };
}
