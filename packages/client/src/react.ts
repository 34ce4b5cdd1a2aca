/** React bindings. A component reads a flag, and is rendered again when that flag changes. */

import type { FlagMap } from '@halyard/protocol';
import {
  createContext,
  createElement,
  type ReactElement,
  type ReactNode,
  useCallback,
  useContext,
  useEffect,
  useMemo,
  useState,
  useSyncExternalStore,
} from 'react';
import type {
  BooleanReadOptions,
  DefaultOf,
  FlagKey,
  FlagsClient,
  ReadOptions,
  TargetingKey,
  ValueOf,
} from './client-types.ts';
import type { ClientStatus } from './connection.ts';
import { evaluateAll } from './evaluate-all.ts';
import type { Evaluation } from './evaluation.ts';

/** What a provider passes to the components below it. */
interface Provided {
  readonly client: FlagsClient;
  readonly targetingKey: TargetingKey | undefined;
}

const Context = createContext<Provided | undefined>(undefined);

/**
 * Provides a client to the components below. Create the client outside of rendering, and close it yourself: then StrictMode
 * and remounts cost nothing. `targetingKey` is whom the components read for (default: the client's). It may change, for
 * example when a person signs in.
 *
 * @example
 * ```tsx
 * <FlagsProvider client={client} targetingKey={user?.id ?? null}>
 *   <App />
 * </FlagsProvider>
 * ```
 */
export function FlagsProvider(props: {
  readonly client: FlagsClient;
  readonly targetingKey?: TargetingKey | undefined;
  readonly children?: ReactNode;
}): ReactElement {
  const { client, targetingKey, children } = props;
  const value = useMemo(() => ({ client, targetingKey }), [client, targetingKey]);
  return createElement(Context.Provider, { value }, children);
}

/** Returns the client of the provider above. Throws without a provider, because that is a mistake in the tree. */
export function useFlagsClient(): FlagsClient {
  return useProvided().client;
}

function useProvided(): Provided {
  const provided = useContext(Context);
  if (!provided) throw new Error('useFlag must be used inside <FlagsProvider client={…}>');
  return provided;
}

/**
 * Returns whether a flag is on. The component renders again when that changes. (Spec: S1.6)
 *
 * @example
 * ```tsx
 * const Checkout = () => (useFlag('new-checkout') ? <NewCheckout /> : <OldCheckout />);
 * ```
 */
export function useFlag(
  key: FlagKey,
  options?: TargetOptions & Pick<BooleanReadOptions, 'fallback'>,
): boolean {
  const targetingKey = useTarget(options);
  return useRead((client, from) => client.isEnabled(key, { ...options, targetingKey, from }));
}

/** Returns a flag's value, or the default. The component renders again when it changes. (Spec: S1.6) */
export function useFlagValue<K extends FlagKey, D extends DefaultOf<K>>(
  key: K,
  defaultValue: D,
  options?: TargetOptions,
): ValueOf<K, D> {
  const targetingKey = useTarget(options);
  return useRead((client, from) => client.getValue(key, defaultValue, { targetingKey, from }));
}

/** Returns a flag's value with the reason for it. The component renders again when either changes. */
export function useFlagEvaluation<K extends FlagKey, D extends DefaultOf<K>>(
  key: K,
  defaultValue: D,
  options?: TargetOptions,
): Evaluation<ValueOf<K, D>> {
  // The parts that are compared; what is made of them is new every time.
  const from = useRead((_, source) => source);
  useRead((client) => client.getState(key));
  useFlagsStatus();
  const targetingKey = useTarget(options);
  return useFlagsClient().evaluate(key, defaultValue, { targetingKey, from });
}

/**
 * Returns all flags as they are for the targeting key (see `evaluateAll`): the same object until one of them changes. A
 * component that needs only a few flags renders less often with `useFlag`.
 */
export function useFlags(options?: TargetOptions): FlagMap {
  const from = useRead((_, source) => source);
  const flags = useRead((client) => client.all({ from }));

  const client = useFlagsClient();
  const targetingKey = useTarget(options);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `flags` is what `evaluateAll` reads from the client
  return useMemo(
    () => evaluateAll(client, targetingKey, { from }).flags,
    [client, targetingKey, from, flags],
  );
}

/**
 * Returns the client's status, which tells "off" from "not loaded yet". On a server, and in a page's first rendering, it is
 * `stale` with a bootstrap and `connecting` without one.
 */
export function useFlagsStatus(): ClientStatus {
  return useRead((client, from) => {
    if (from === 'current') return client.status;
    // Both renderings agree: a client says `stale` as long as only its bootstrap answers.
    return client.hasBootstrap ? 'stale' : 'connecting';
  });
}

/**
 * Returns whether the first load is over: `true` once there are flags, from the server or a bootstrap, and also after the
 * load has failed or `ready()` has timed out, so that a gate opens in bounded time. On a server it is `false` without a
 * bootstrap.
 *
 * @example
 * ```tsx
 * const Gate = ({ children }: { children: ReactNode }) => (useFlagsReady() ? children : <Spinner />);
 * ```
 */
export function useFlagsReady(): boolean {
  const client = useFlagsClient();
  const status = useFlagsStatus();
  const [awaited, setAwaited] = useState<FlagsClient>();

  useEffect(() => {
    let isOver = false;
    void client.ready().then(() => isOver || setAwaited(client));
    return () => {
      isOver = true;
    };
  }, [client]);
  return status !== 'connecting' || awaited === client;
}

/** Options of a hook. */
export type TargetOptions = Pick<ReadOptions, 'targetingKey'>;

/** Whom a hook reads for: its own options say so, or the provider above. */
function useTarget(options: TargetOptions | undefined): TargetingKey | undefined {
  const { targetingKey } = useProvided();
  return options?.targetingKey === undefined ? targetingKey : options.targetingKey;
}

/** Reads now; while a page is hydrated, reads what the server rendered from. */
function useRead<T>(read: (client: FlagsClient, from: 'current' | 'bootstrap') => T): T {
  const client = useFlagsClient();
  const subscribe = useCallback(
    (rerender: () => void) => {
      const stops = [client.onChange(rerender), client.onStatus(rerender)];
      return () => {
        for (const stop of stops) stop();
      };
    },
    [client],
  );

  return useSyncExternalStore(
    subscribe,
    () => read(client, 'current'),
    () => read(client, 'bootstrap'),
  );
}
