import { onAbort } from '../abort.ts';
import { createClientOn } from '../client.ts';
import type { FlagsClient } from '../client-types.ts';
import { type Connection, createConnection } from '../connection.ts';
import { acquireConnection } from '../connection-registry.ts';
import { FlagsError, isRefusal } from '../errors.ts';
import { type ClientOptions, copyOptions, readMs, readTarget } from '../options.ts';
import { type Platform, systemPlatform } from '../platform.ts';
import { createReporter } from '../reporter.ts';
import { toSafeError } from '../request.ts';
import type { Load, Loaded } from '../rest.ts';
import type { Target } from '../target.ts';
import { createPublishedSource, type PublishedSource } from './source.ts';

/** Options of {@link createPublishedClient}: `baseUrl`, and what {@link ClientOptions} has that fits a reader of files. */
export interface PublishedOptions
  extends Pick<
    ClientOptions,
    | 'bootstrap'
    | 'targetingKey'
    | 'requestTimeoutMs'
    | 'readyTimeoutMs'
    | 'fetch'
    | 'onError'
    | 'onChange'
    | 'logger'
  > {
  /** Address of the environment's folder, such as `https://cdn.example.com/halyard/shop/production`. */
  readonly baseUrl: string | URL;
  /** `poll` (default) reads every `pollIntervalMs`. `manual` reads only in `ready()` and `refresh()`. */
  readonly mode?: 'poll' | 'manual';
  /** Time between two reads of the pointer, in milliseconds. Default 30,000, at least 500. */
  readonly pollIntervalMs?: number;
  /**
   * The client is `stale` when a node has not confirmed its flags for a minute, `pollIntervalMs`, and this many milliseconds.
   * Default 30,000.
   */
  readonly staleAfterMs?: number;
}

/** A client that reads files that a node has published. */
export interface PublishedClient extends FlagsClient {
  /**
   * Milliseconds since a node last confirmed that these flags are the newest; up to a minute while everything works. `undefined`
   * before the first load.
   */
  readonly ageMs: number | undefined;
}

/** Options of {@link createClientWithFallback}. */
export interface FallbackOptions extends ClientOptions {
  /** Address of the environment's folder, such as `https://cdn.example.com/halyard/shop/production`. No key is sent there. */
  readonly published: string | URL;
}

/**
 * Creates a client that reads a published environment, without a node and without a key. It is a {@link FlagsClient} in every
 * other respect, but learns of changes by asking. Never throws. (Spec: S18.5)
 *
 * @example
 * ```ts
 * const flags = createPublishedClient({ baseUrl: 'https://cdn.example.com/halyard/shop/production' });
 * await flags.ready();
 * ```
 */
export function createPublishedClient(options: PublishedOptions): PublishedClient {
  return createPublishedClientOn(systemPlatform, options);
}

/** {@link createPublishedClient} with a given clock, source of chance and network. */
export function createPublishedClientOn(platform: Platform, options: PublishedOptions): PublishedClient {
  const given = copyOptions(options);
  const baseUrl = `${given.baseUrl ?? ''}`;
  let source: PublishedSource | undefined;

  const client = createClientOn(
    platform,
    {
      ...given,
      baseUrl,
      environment: environmentOf(baseUrl),
      mode: given.mode === 'manual' ? 'manual' : 'poll',
      apiKey: false,
      headers: undefined,
      reportUsage: false,
      // `ClientOptions`: the members may be of any type, and `createClientOn` checks them.
    } as unknown as ClientOptions,
    (read) => {
      const target: Target = {
        ...read,
        pollIntervalMs: readMs(given.pollIntervalMs, 30_000, 500),
        loadMap: (_, controller, etag) => files.load(controller, etag),
      };
      const files = createPublishedSource(target);
      source = files;
      const connection = createConnection(target);
      return [connection, () => connection.close()];
    },
  );
  // `PublishedClient`: the client has every member once `ageMs` is defined.
  return Object.defineProperty(client, 'ageMs', {
    get: () => source?.ageMs(client.revision),
    enumerable: true,
  }) as PublishedClient;
}

/**
 * Creates a client that follows a node, as `createClient` does, and reads the published files of the same environment while
 * no node answers. An answer that refuses the key is an answer. Never throws. (Spec: S18.5)
 *
 * @example
 * ```ts
 * const flags = createClientWithFallback({
 *   apiKey: process.env.HALYARD_KEY ?? '',
 *   environment: 'production',
 *   published: 'https://cdn.example.com/halyard/shop/production',
 * });
 * ```
 */
export function createClientWithFallback(options: FallbackOptions): FlagsClient {
  return createClientWithFallbackOn(systemPlatform, options);
}

/** {@link createClientWithFallback} with a given clock, source of chance and network. */
export function createClientWithFallbackOn(platform: Platform, options: FallbackOptions): FlagsClient {
  const given = copyOptions(options);
  const { published } = given as { readonly published?: unknown }; // the copy has every member, of any type
  const baseUrl = `${published ?? ''}`;
  const files = { apiKey: false, environment: environmentOf(baseUrl), baseUrl } as const;
  try {
    readTarget(files, platform);
  } catch {
    const error = new FlagsError('invalid_options', 'createClientWithFallback needs a valid published', {
      retryable: false,
    });
    queueMicrotask(() => createReporter(platform.now, given.onError, given.logger).report(error));
    return createClientOn(platform, options);
  }

  return createClientOn(platform, options, (node) => {
    const source = createPublishedSource({ ...node, baseUrl: readTarget(files, platform).baseUrl });
    let connection: Connection | undefined;
    /** What the files say. To a client that has flags, old files say nothing: their history may have been replaced since. */
    const loadFiles = async (controller: AbortController, etag: string | null | undefined) => {
      const loaded = await source.load(controller, etag);
      if (!loaded.isCurrent && connection?.flags)
        throw new FlagsError('timeout', 'the published flags are old');
      return loaded;
    };

    // Clients that share a connection have the same address, too.
    const lease = acquireConnection({
      ...node,
      loadMap: loadEither(node.loadMap, loadFiles),
      published: baseUrl,
    });
    connection = lease[0];
    return lease;
  });
}

/** A node that has not answered for so long is not waited for, in milliseconds. */
const PATIENCE_MS = 1_000;

/** Loads from a node, or from the files if the node fails or takes its time. Throws the error of the node. */
function loadEither(
  loadNode: Load,
  loadFiles: (controller: AbortController, etag?: string | null) => Promise<Loaded>,
): Load {
  return async (target, controller, etag) => {
    const attempt = new AbortController();
    const stopWaiting = onAbort(controller.signal, () => attempt.abort(controller.signal.reason));
    let error: FlagsError | undefined;
    let cancel = () => {};
    const node = loadNode(target, attempt, etag).catch((thrown: unknown) => {
      error = toSafeError(target, thrown, 'network_error');
      throw error;
    });
    const patience = new Promise<undefined>((resolve) => {
      cancel = target.platform.setTimer(() => resolve(undefined), PATIENCE_MS);
    });

    try {
      const first = await Promise.race([node.catch(() => undefined), patience]);
      if (first) return first;
      // A refusal is an answer.
      if (isRefusal(error)) throw error;
      return await Promise.any([node, loadFiles(controller, etag)]).catch(() => {
        throw error;
      });
    } finally {
      cancel();
      stopWaiting();
      attempt.abort();
    }
  };
}

/** The environment that an address names: its last folder. */
function environmentOf(baseUrl: string): string {
  try {
    return decodeURIComponent(/([^/]*)\/*$/.exec(baseUrl)?.[1] ?? '');
  } catch {
    return '';
  }
}
