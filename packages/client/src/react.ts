/** React bindings. A component reads a flag, and is rendered again when that flag changes. */
import {
  createContext,
  createElement,
  type ReactElement,
  type ReactNode,
  useCallback,
  useContext,
  useSyncExternalStore,
} from 'react';
import type { DefaultOf, FlagKey, FlagsClient, ReadOptions, ValueOf } from './client-types.ts';
import type { ClientStatus } from './connection.ts';
import type { Evaluation } from './evaluation.ts';

const Context = createContext<FlagsClient | undefined>(undefined);

/**
 * Gives a client to the components below. The application makes and closes the client, outside of rendering, so that
 * StrictMode and remounting cost nothing.
 */
export function FlagsProvider(props: {
  readonly client: FlagsClient;
  readonly children?: ReactNode;
}): ReactElement {
  return createElement(Context.Provider, { value: props.client }, props.children);
}

/** The client of the provider above. Throws without a provider: that is a mistake in the tree, not in the network. */
export function useFlagsClient(): FlagsClient {
  const client = useContext(Context);
  if (!client) throw new Error('useFlag and its kin need a <FlagsProvider client={…}> above them');
  return client;
}

/** Whether a flag is on, now and whenever that changes. (Spec: boolean read) */
export function useFlag(key: FlagKey, options?: TargetOptions): boolean {
  return useRead((client, from) => client.isEnabled(key, { ...options, from }));
}

/** A flag's value, now and whenever it changes. (Spec: value read) */
export function useFlagValue<K extends FlagKey, D extends DefaultOf<K>>(
  key: K,
  defaultValue: D,
  options?: TargetOptions,
): ValueOf<K, D> {
  return useRead((client, from) => client.getValue(key, defaultValue, { ...options, from }));
}

/** A read with its circumstances, now and whenever they change. */
export function useFlagEvaluation<K extends FlagKey, D extends DefaultOf<K>>(
  key: K,
  defaultValue: D,
  options?: TargetOptions,
): Evaluation<ValueOf<K, D>> {
  // The parts that are compared; what is made of them is new every time.
  const from = useRead((_, source) => source);
  useRead((client) => client.getState(key));
  useFlagsStatus();
  return useFlagsClient().evaluate(key, defaultValue, { ...options, from });
}

/**
 * The client's status: tells "off" from "not loaded yet". On a server, and in a page's first rendering, `stale` with a
 * bootstrap and `connecting` without.
 */
export function useFlagsStatus(): ClientStatus {
  return useRead((client, from) => {
    if (from === 'current') return client.status;
    // Both renderings agree: a client says `stale` as long as only its bootstrap answers.
    return client.evaluate('', null, { from }).errorCode === 'not_ready' ? 'connecting' : 'stale';
  });
}

/** For whom a hook reads; `from` is the hook's own business. */
export type TargetOptions = Pick<ReadOptions, 'targetingKey'>;

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
