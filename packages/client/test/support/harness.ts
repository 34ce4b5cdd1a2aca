import { afterEach } from 'bun:test';
import { createClientOn } from '../../src/client.ts';
import '../../src/refusal.ts'; // loaded when a server refuses; by then, its loading must take no time
import type { FlagsError } from '../../src/errors.ts';
import type { ClientOptions, FlagsClient } from '../../src/index.ts';
import { FakePlatform } from './fake-platform.ts';
import { ScriptedServer } from './scripted-server.ts';

/** A key of the right shape that opens nothing anywhere. */
export const TEST_KEY = `proj_live_${'Canary7'.repeat(7)}`;

/** How soon a client finds a server that is back: the cap of the backoff and five seconds. (P6) */
export const RECOVERY_MS = 35_000;

/** A client on a scripted server and a fake clock. */
export interface Harness {
  readonly server: ScriptedServer;
  readonly platform: FakePlatform;
  readonly client: FlagsClient;
  readonly errors: FlagsError[];
  readonly codes: () => string[];
  /** Another client of the same process. */
  readonly another: (options?: Partial<ClientOptions>) => FlagsClient;
}

const open: FlagsClient[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((client) => client.close()));
});

/** Makes a harness; its clients are closed after the test. */
export function harness(options: Partial<ClientOptions> = {}, server = new ScriptedServer()): Harness {
  const platform = new FakePlatform(server.fetch);
  const errors: FlagsError[] = [];
  const another = (more: Partial<ClientOptions> = {}) => {
    const client = createClientOn(platform, {
      apiKey: TEST_KEY,
      environment: 'production',
      baseUrl: 'https://flags.example',
      onError: (error) => errors.push(error),
      ...options,
      ...more,
    });
    open.push(client);
    return client;
  };
  return {
    server,
    platform,
    client: another(),
    errors,
    codes: () => errors.map(({ code }) => code),
    another,
  };
}

/** Waits until a client has recovered; rejects after {@link RECOVERY_MS}. */
export async function recovered({ client, platform }: Pick<Harness, 'client' | 'platform'>): Promise<void> {
  await platform.advanceUntil(() => client.status === 'ready', RECOVERY_MS);
}
