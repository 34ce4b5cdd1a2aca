import type { FlagValues } from '../config/config.ts';
import { describeUnknownVariables } from '../config/describe-settings.ts';
import { parseRelayConfig, RELAY_SETTINGS, type RelayConfig } from '../config/relay-config.ts';
import { VERSION } from '../version.ts';
import { localCommand } from './command.ts';
import { failToStart, untilStopped } from './serve.ts';
import { settingOptions } from './setting-options.ts';
import type { Shell } from './shell.ts';

/** `halyard relay` */
export const relayCommand = localCommand({
  usage: 'relay',
  about:
    'Start a relay: a node without a database that follows another node or relay over HTTPS and serves the same ' +
    'flags to the same project keys.',
  options: settingOptions(RELAY_SETTINGS),
  help: 'Every option has an environment variable: --max-queued-bytes is HALYARD_MAX_QUEUED_BYTES. Options override variables.',
  examples: [
    'HALYARD_RELAY_TOKEN=hrl_... halyard relay --upstream https://flags.example.com',
    'halyard relay --upstream https://flags.example.com --relay-token-file ./relay-token --port 8080',
    'halyard relay --upstream https://a.example.com,https://b.example.com --relay-token-file ./relay-token --workers auto',
  ],
  run: async (flags: FlagValues, shell) => {
    for (const warning of describeUnknownVariables(shell.env)) shell.writeError(`warning: ${warning}\n`);
    await relayUntilStopped(parseRelayConfig({ flags, env: shell.env, isTerminal: shell.isTerminal }), shell);
  },
});

async function relayUntilStopped(config: RelayConfig, shell: Shell): Promise<void> {
  const { startRelay } = await import('../nodes/relay.ts');
  await untilStopped(shell, async () => {
    const relay = await startRelay(config).catch((error: unknown) => failToStart(error));
    if (config.logFormat === 'pretty') shell.write(banner(relay.url, relay.isReady(), config));
    return relay;
  });
}

function banner(url: string, isReady: boolean, { upstream, docsUrl, data }: RelayConfig): string {
  const lines = [
    '',
    `  Halyard ${VERSION} relays ${upstream.join(', ')} at ${url}`,
    '',
    `  Documentation   ${docsUrl ?? `${url}/docs`}`,
    `  Data            ${data}`,
    '',
    ...(isReady
      ? []
      : ['  The relay is not ready: it cannot follow the upstream yet. The log says why.', '']),
    '  Press Ctrl+C to stop.',
    '',
    '',
  ];
  return lines.join('\n');
}
