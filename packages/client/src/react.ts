/** React bindings. A component reads a flag, and is rendered again when that flag changes. */

import type { FlagMap } from '@halyard/protocol';
import {
  createContext,
  createElement,
  type ReactElement,
  type ReactNode,
  useCallback,
  useContext,
  useMemo,
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

/** What a provider gives to the components below it. */
interface Provided {
  readonly client: FlagsClient;
  readonly targetingKey: TargetingKey | undefined;
}

const Context = createContext<Provided | undefined>(undefined);

/**
 * Gives a client to the components below. The application makes and closes the client, outside of rendering, so that
 * StrictMode and remounting cost nothing. `targetingKey` is whom they read for (default: the client's), and may change,
 * as when a person signs in.
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

/** The client of the provider above. Throws without a provider: that is a mistake in the tree, not in the network. */
export function useFlagsClient(): FlagsClient {
  return useProvided().client;
}

function useProvided(): Provided {
  const provided = useContext(Context);
  if (!provided) throw new Error('useFlag and its kin need a <FlagsProvider client={…}> above them');
  return provided;
}

/** Whether a flag is on, now and whenever that changes. (Spec: S1.6) */
export function useFlag(
  key: FlagKey,
  options?: TargetOptions & Pick<BooleanReadOptions, 'fallback'>,
): boolean {
  const targetingKey = useTarget(options);
  return useRead((client, from) => client.isEnabled(key, { ...options, targetingKey, from }));
}

/** A flag's value, now and whenever it changes. (Spec: S1.6) */
export function useFlagValue<K extends FlagKey, D extends DefaultOf<K>>(
  key: K,
  defaultValue: D,
  options?: TargetOptions,
): ValueOf<K, D> {
  const targetingKey = useTarget(options);
  return useRead((client, from) => client.getValue(key, defaultValue, { targetingKey, from }));
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
  const targetingKey = useTarget(options);
  return useFlagsClient().evaluate(key, defaultValue, { targetingKey, from });
}

/**
 * Every flag as it is for the targeting key (see `evaluateAll`), now and whenever one of them changes: the same object
 * until then. A component that reads a few flags is rendered less often with `useFlag`.
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
 * The client's status: tells "off" from "not loaded yet". On a server, and in a page's first rendering, `stale` with a
 * bootstrap and `connecting` without.
 */
export function useFlagsStatus(): ClientStatus {
  return useRead((client, from) => {
    if (from === 'current') return client.status;
    // Both renderings agree: a client says `stale` as long as only its bootstrap answers.
    return client.hasBootstrap ? 'stale' : 'connecting';
  });
}

/** For whom a hook reads; `from` is the hook's own business. */
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
