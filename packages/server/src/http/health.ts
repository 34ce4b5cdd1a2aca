import type { Freshness } from '../domain/read-side.ts';

/** Whether the process works at all. Never asks the database, so losing it restarts nobody. */
export function healthAnswer(): Response {
  return status(200, { status: 'ok' });
}

/**
 * Whether this node should get traffic: its catalog is whole and current, every change will be seen, and it is not
 * on its way out. True in both directions: it turns unready again when any of that ends.
 */
export function readinessAnswer(freshness: Freshness): Response {
  if (freshness.canStream()) return status(200, { status: 'ready' });
  const staleSeconds = freshness.staleSeconds();
  const canRead = freshness.canRead();
  const reason = freshness.trouble();
  return status(503, {
    status: 'not ready',
    canRead,
    ...(reason === undefined ? {} : { reason }),
    ...(staleSeconds === undefined ? {} : { staleSeconds }),
  });
}

function status(code: number, body: object): Response {
  return Response.json(body, { status: code, headers: { 'Cache-Control': 'no-store' } });
}
