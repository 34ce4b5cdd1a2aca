import type { RelayConfig } from '../config/relay-config.ts';
import { lastKnownPlace } from '../evaluation/last-known/last-known-file.ts';
import { RemoteLog } from '../evaluation/log/remote-log.ts';
import { createLogger } from '../observability/logger.ts';
import { VERSION } from '../version.ts';
import { startEvaluationNode } from './evaluation.ts';
import { type RunningNode, stoppable } from './running-node.ts';
import { findLastKnown } from './start-from-last-known.ts';

/** A relay that listens. */
export type RunningRelay = Pick<RunningNode, 'url' | 'closed' | 'isReady' | 'stop'>;

/**
 * Starts a relay: the read plane over the log of another node, which it offers to further relays. Resolves once flags
 * are served, or once the upstream turned out to be unreachable for now; rejects when it cannot be followed at all.
 */
export async function startRelay(config: RelayConfig): Promise<RunningRelay> {
  const log = createLogger({ level: config.logLevel, format: config.logFormat });
  if (isUnencrypted(config.upstream))
    log.warn({ upstream: config.upstream }, 'the relay token and all flags travel unencrypted: use https');

  const { upstream, relayToken, data } = config;
  const place = lastKnownPlace(data, `${upstream} ${relayToken}`);
  const found = await findLastKnown(place, log);

  const source = new RemoteLog({ url: upstream, token: relayToken });
  const node = await startEvaluationNode(
    source,
    {
      ...config,
      report: (body) => source.report(body),
      lastKnown: { place, found },
    },
    log,
  );

  log.info(
    { url: node.url, upstream: config.upstream, version: VERSION, ready: node.isReady() },
    'listening',
  );
  return { url: node.url, isReady: node.isReady, ...stoppable(node.stop) };
}

/** Whether tokens and flags leave this machine unencrypted. */
function isUnencrypted(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === 'http:' && !/^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
}
