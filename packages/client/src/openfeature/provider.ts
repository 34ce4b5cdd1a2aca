import type { ErrorCode, EvaluationContext, ResolutionDetails } from '@openfeature/core';
import { createClient } from '../client.ts';
import type { FlagsClient, ReadyResult } from '../client-types.ts';
import type { ClientStatus } from '../connection.ts';
import type { ClientOptions } from '../options.ts';
import { type Kind, type MappingOptions, resolve } from './resolve.ts';

/** Emits an event of a provider, by its name in either SDK's `ProviderEvents`. */
export type Emit = (
  event: 'Ready' | 'Stale' | 'Error' | 'ConfigurationChanged',
  details?: {
    readonly message?: string;
    readonly errorCode?: ErrorCode;
    flagsChanged?: string[];
  },
) => void;

/** The half of a provider that both SDKs share: the life of its client, its events, and its reads. */
export abstract class ClientProvider {
  readonly metadata = { name: 'halyard' } as const;
  readonly #given: FlagsClient | ClientOptions;
  readonly #options: MappingOptions;
  #client: FlagsClient;
  #ending = new AbortController();

  /** Takes a client, which stays the application's, or options, from which the provider makes one of its own. */
  constructor(client: FlagsClient | ClientOptions, options: MappingOptions = {}) {
    this.#given = client;
    this.#options = options;
    this.#client = isClient(client) ? client : createClient(client);
  }

  /** Emits through the SDK's own emitter. */
  protected abstract emit: Emit;

  /** The SDK's own error, for causes that only a person can undo. */
  protected abstract readonly Fatal: new (
    message: string,
  ) => Error;

  /** Waits for the first load. Rejects when it fails; the provider becomes ready later if the cause passes. */
  async initialize(): Promise<void> {
    // A provider that was shut down may be set again, and then begins again.
    this.#ending.abort();
    this.#ending = new AbortController();

    const { signal } = this.#ending;
    const given = this.#given;
    if (!isClient(given) && this.#client.status === 'closed') this.#client = createClient(given);
    const client = this.#client;
    const result = await client.ready();

    // Only now: the SDK drops events that come before initialisation has ended.
    client.onChange(({ changed }) => this.emit('ConfigurationChanged', { flagsChanged: [...changed] }), {
      signal,
    });
    const tell = (status: ClientStatus) => {
      if (status === 'ready') this.emit('Ready');
      else if (status === 'stale') this.emit('Stale');
      else if (status === 'failed')
        // `ErrorCode`: an enum whose member is this very string; importing it would be code for a type.
        this.emit('Error', { message: 'no flags have been loaded', errorCode: 'GENERAL' as ErrorCode });
      // The application closed its client. Reads go on with the flags that it had.
      else if (status === 'closed') this.emit('Stale', { message: 'the client is closed' });
    };

    client.onStatus(tell, { signal });
    // What the SDK concludes from the result may be out of date, as with a bootstrap, and no other status may follow.
    const concluded = result.status === 'bootstrapped' ? 'ready' : result.status;
    setTimeout(() => {
      if (!signal.aborted && client.status !== concluded) tell(client.status);
    });

    if (concluded === 'ready') return;
    const message = result.error?.message ?? 'the first load failed';
    throw isFatal(result) ? new this.Fatal(message) : (result.error ?? new Error(message));
  }

  /** Ends the provider's work, and its client if the provider made it. */
  async onClose(): Promise<void> {
    this.#ending.abort();
    if (!isClient(this.#given)) await this.#client.close();
  }

  /** Answers a read of either SDK. */
  protected read<T>(
    kind: Kind,
    key: string,
    defaultValue: T,
    { targetingKey }: EvaluationContext,
  ): ResolutionDetails<T> {
    return resolve(this.#client, { key, kind, defaultValue, targetingKey }, this.#options);
  }
}

function isClient(given: FlagsClient | ClientOptions): given is FlagsClient {
  return typeof given === 'object' && given !== null && 'isEnabled' in given;
}

/** Whether a failed first load is one that only a person can mend. */
function isFatal({ error }: ReadyResult): boolean {
  return ['invalid_api_key', 'environment_not_found', 'invalid_options'].includes(error?.code ?? '');
}
