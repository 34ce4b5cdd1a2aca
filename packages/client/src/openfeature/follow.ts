import { createClient } from '../client.ts';
import type { FlagsClient, ReadyResult } from '../client-types.ts';
import type { ClientOptions } from '../options.ts';

/** What the OpenFeature SDKs' emitters have in common. */
export interface Events {
  readonly onReady: () => void;
  readonly onStale: () => void;
  readonly onError: () => void;
  readonly onChange: (keys: string[]) => void;
}

/** A client as a provider holds it. */
export interface HeldClient {
  readonly client: FlagsClient;
  /** Ends what the provider began: its listeners, and the client if the provider made it. */
  readonly release: () => Promise<void>;
  /** Waits for the first load and begins to pass events on. */
  readonly begin: (events: Events) => Promise<ReadyResult>;
}

/** Takes a client, which stays the application's, or options, from which the provider makes one of its own. */
export function holdClient(given: FlagsClient | ClientOptions): HeldClient {
  const isClient = 'isEnabled' in given;
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
    begin: async (events) => {
      // A provider that was shut down may be set again, and then begins again.
      ending.abort();
      ending = new AbortController();
      const { signal } = ending;
      if (!isClient && client.status === 'closed') client = createClient(given);
      const result = await client.ready();
      // Only now: the SDK drops events that come before initialisation has ended.
      client.onChange(({ changed }) => events.onChange([...changed]), { signal });
      client.onStatus(
        (status) => {
          if (status === 'ready') events.onReady();
          else if (status === 'stale') events.onStale();
          else if (status === 'failed') events.onError();
        },
        { signal },
      );
      return result;
    },
  };
}

/** Whether a failed first load is one that only a person can mend. */
export function isFatal({ error }: ReadyResult): boolean {
  return ['invalid_api_key', 'environment_not_found', 'invalid_options'].includes(error?.code ?? '');
}
