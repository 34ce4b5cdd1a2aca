import { flagKey } from '../fixture.ts';

/** One of the flags that every peer is filled with. */
export interface PeerFlag {
  readonly key: string;
  readonly enabled: boolean;
  readonly value: string;
}

/** The flag that is read alone. It is on. */
export const ONE = 500;

/** The same flags for everyone: half of them on, each with a text, without rollouts, which peers know by other rules. */
export function peerFlags(count: number): readonly PeerFlag[] {
  return Array.from({ length: count }, (_, index) => ({
    key: flagKey(index),
    enabled: index % 2 === 0,
    value: `variant ${index % 7} of a text value`,
  }));
}

/** The whole map as Halyard sends it, for services that only pass on what they are given. `serial` changes one flag. */
export function mapText(flags: readonly PeerFlag[], serial?: number): string {
  const entries = flags.map(({ key, enabled, value }, index) => [
    key,
    { enabled, value: index === 0 && serial !== undefined ? `change ${serial}` : value },
  ]);
  return JSON.stringify(Object.fromEntries(entries));
}

/** As Unleash has them: a strategy for everyone, and the text as the payload of the only variant. */
export function unleashFeatures(flags: readonly PeerFlag[]): object[] {
  return flags.map(({ key, enabled, value }) => ({
    name: key,
    type: 'release',
    enabled,
    project: 'default',
    stale: false,
    strategies: [{ name: 'default', constraints: [], parameters: {}, variants: [] }],
    variants: [
      {
        name: 'text',
        weight: 1000,
        weightType: 'variable',
        stickiness: 'default',
        payload: { type: 'string', value },
        overrides: [],
      },
    ],
  }));
}

/** The file of flagd. */
export function flagdFile(flags: readonly PeerFlag[]): string {
  const entries = flags.map(({ key, enabled, value }) => [
    key,
    { state: enabled ? 'ENABLED' : 'DISABLED', variants: { text: value }, defaultVariant: 'text' },
  ]);
  return JSON.stringify({ flags: Object.fromEntries(entries) });
}

/** The file of GO Feature Flag, which reads JSON as well as YAML. */
export function goFeatureFlagFile(flags: readonly PeerFlag[]): string {
  const entries = flags.map(({ key, enabled, value }) => [
    key,
    { variations: { text: value, none: '' }, defaultRule: { variation: enabled ? 'text' : 'none' } },
  ]);
  return JSON.stringify(Object.fromEntries(entries));
}

/** The file of Flipt; YAML takes JSON. */
export function fliptFile(flags: readonly PeerFlag[]): string {
  return JSON.stringify({
    version: '1.4',
    namespace: { key: 'default', name: 'default' },
    flags: flags.map(({ key, enabled, value }) => ({
      key,
      name: key,
      type: 'VARIANT_FLAG_TYPE',
      enabled,
      variants: [{ key: 'text', name: value, default: true }],
    })),
  });
}

/** The payload of GrowthBook, as its API gives it to a proxy. */
export function growthBookPayload(flags: readonly PeerFlag[]): object {
  const entries = flags.map(({ key, enabled, value }) => [key, { defaultValue: enabled ? value : '' }]);
  return { status: 200, features: Object.fromEntries(entries), dateUpdated: new Date(0).toISOString() };
}
