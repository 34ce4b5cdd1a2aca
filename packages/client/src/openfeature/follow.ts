import type { ErrorCode } from '@openfeature/core';
import { createClient } from '../client.ts';
import type { FlagsClient, ReadyResult } from '../client-types.ts';
import type { ClientStatus } from '../connection.ts';
import type { ClientOptions } from '../options.ts';

/** Emits an event of a provider, by its name in either SDK's `ProviderEvents`. */
export type Emit = (
  event: 'Ready' | 'Stale' | 'Error' | 'ConfigurationChanged',
  details?: {
    readonly message?: string;
    readonly errorCode?: ErrorCode;
    flagsChanged?: string[];
  },
) => void;

/** A client as a provider holds it. */
export interface HeldClient {
  readonly client: FlagsClient;
  /** Ends what the provider began: its listeners, and the client if the provider made it. */
  readonly release: () => Promise<void>;
  /**
   * Waits for the first load and begins to pass events on. Rejects when it fails, with `Fatal`, the SDK's own error, if
   * only a person can undo the cause.
   */
  readonly begin: (emit: Emit, Fatal: new (message: string) => Error) => Promise<void>;
}

/** Takes a client, which stays the application's, or options, from which the provider makes one of its own. */
export function holdClient(given: FlagsClient | ClientOptions): HeldClient {
  const isClient = typeof given === 'object' && given !== null && 'isEnabled' in given;
  let client = isClient ? given : createClient(given);
  let ending = new AbortController();
  return {
    get client() {
      return client;
    },
    release: async () => {
      ending.abort();
      if (!isClient) await client.close();
    },
    begin: async (emit, Fatal) => {
      // A provider that was shut down may be set again, and then begins again.
      ending.abort();
      ending = new AbortController();
      const { signal } = ending;
      if (!isClient && client.status === 'closed') client = createClient(given);
      const result = await client.ready();
      // Only now: the SDK drops events that come before initialisation has ended.
      client.onChange(({ changed }) => emit('ConfigurationChanged', { flagsChanged: [...changed] }), {
        signal,
      });
      const tell = (status: ClientStatus) => {
        if (status === 'ready') emit('Ready');
        else if (status === 'stale') emit('Stale');
        else if (status === 'failed')
          // `ErrorCode`: an enum whose member is this very string; importing it would be code for a type.
          emit('Error', { message: 'no flags have been loaded', errorCode: 'GENERAL' as ErrorCode });
      };
      client.onStatus(tell, { signal });
      // What the SDK concludes from the result may be out of date, as with a bootstrap, and no other status may follow.
      const concluded = result.status === 'bootstrapped' ? 'ready' : result.status;
      setTimeout(() => {
        if (!signal.aborted && client.status !== concluded) tell(client.status);
      });
      if (concluded === 'ready') return;
      const message = result.error?.message ?? 'the first load failed';
      throw isFatal(result) ? new Fatal(message) : (result.error ?? new Error(message));
    },
  };
}

/** Whether a failed first load is one that only a person can mend. */
function isFatal({ error }: ReadyResult): boolean {
  return ['invalid_api_key', 'environment_not_found', 'invalid_options'].includes(error?.code ?? '');
}
