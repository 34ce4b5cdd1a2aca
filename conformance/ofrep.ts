import { defined } from '@halyard/protocol';
import type { World } from './world.ts';

/** The body of a request for a target. */
function bodyFor(targetingKey: string | number | undefined): string {
  return JSON.stringify({ context: { targetingKey, plan: 'gold' } });
}

/** Evaluates one flag. */
export async function evaluateOne(
  world: World,
  flagKey: string,
  targetingKey?: string | number,
  environment = 'production',
): Promise<Response> {
  const path = `/environments/${environment}/ofrep/v1/evaluate/flags/${encodeURIComponent(flagKey)}`;
  return await world.fetch(path, { method: 'POST', body: bodyFor(targetingKey) });
}

/** Evaluates all flags of the environment `production`. */
export async function evaluateAll(world: World, init: BulkInit = {}): Promise<Response> {
  const { targetingKey, query = '', tag, encoding } = init;
  return await world.fetch(`/environments/production/ofrep/v1/evaluate/flags${query}`, {
    method: 'POST',
    body: bodyFor(targetingKey),
    headers: defined({ 'If-None-Match': tag, 'Accept-Encoding': encoding }),
    ...(encoding !== undefined && { decompress: false }), // the bytes as they came
  });
}

interface BulkInit {
  readonly targetingKey?: string | undefined;
  readonly query?: string;
  readonly tag?: string | undefined;
  readonly encoding?: string;
}
