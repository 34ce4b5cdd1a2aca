import type { RelayConfig } from '../config/relay-config.ts';
import { lastKnownPlace } from '../evaluation/last-known/last-known-file.ts';
import { Upstreams } from '../evaluation/log/upstreams.ts';
import { createLogger } from '../observability/logger.ts';
import { VERSION } from '../version.ts';
import { startEvaluationNode } from './evaluation.ts';
import { RelayTokenFile } from './relay-token-file.ts';
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
  const { upstream, relayToken, data } = config;
  for (const url of upstream.filter(isUnencrypted))
    log.warn({ upstream: url }, 'the relay token and all flags travel unencrypted: use https');

  // Of any of these addresses, with whatever token: both may have been replaced. Older versions named the token, too.
  const ofOlder = upstream.map((url) => `${url} ${relayToken}`);
  const place = lastKnownPlace(data, ...upstream, ...ofOlder);
  const found = await findLastKnown(place, log);

  const token = new RelayTokenFile(config);
  const source = new Upstreams({ urls: upstream, token: () => token.read(), log });
  token.watch(() => void source.renewToken());
  const node = await startEvaluationNode(
    source,
    {
      ...config,
      fleet: config,
      report: (body) => source.report(body),
      upstreams: source,
      lastKnown: { place, found },
    },
    log,
  ).catch((error: unknown) => {
    token.close();
    throw error;
  });

  log.info(
    { url: node.url, upstream: source.followed, version: VERSION, ready: node.isReady() },
    'listening',
  );
  return { url: node.url, isReady: node.isReady, ...stoppable(stop) };

  function stop(): Promise<void> {
    token.close();
    return node.stop();
  }
}

/** Whether tokens and flags leave this machine unencrypted. */
function isUnencrypted(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === 'http:' && !/^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
}
