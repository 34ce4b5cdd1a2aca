import { flagKey } from '../node.ts';

/** One of the flags that every peer is filled with. */
export interface PeerFlag {
  readonly key: string;
  readonly enabled: boolean;
  readonly value: string;
  /** On for so many percent of all keys only. */
  readonly rolloutPct?: number;
}

/** The flag that is read alone. With enough flags it is on, for half of all keys. */
export function oneOf(flags: readonly PeerFlag[]): PeerFlag {
  const one = flags[504] ?? flags[0];
  if (one === undefined) throw new Error('there are no flags');
  return one;
}

/** The same flags for everyone: half of them on, each with a text, every third one rolled out to half of all keys. */
export function peerFlags(count: number): readonly PeerFlag[] {
  return Array.from({ length: count }, (_, index) => ({
    key: flagKey(index),
    enabled: index % 2 === 0,
    value: `variant ${index % 7} of a text value`,
    ...(index % 3 === 0 && { rolloutPct: 50 }),
  }));
}

/** The same flags after one change: flag 1 has a new text. */
export function changed(flags: readonly PeerFlag[], serial: number): readonly PeerFlag[] {
  return flags.map((flag, index) => (index === 1 ? { ...flag, value: `change ${serial} of a text` } : flag));
}

/** The whole map as Halyard sends it, for services that only pass on what they are given. */
export function mapText(flags: readonly PeerFlag[]): string {
  return JSON.stringify(Object.fromEntries(flags.map(({ key, ...state }) => [key, state])));
}

/** As Unleash has them: a strategy, and the text as the payload of the only variant. */
export function unleashFeatures(flags: readonly PeerFlag[]) {
  return flags.map(({ key, enabled, value, rolloutPct }) => ({
    name: key,
    type: 'release',
    enabled,
    project: 'default',
    stale: false,
    strategies: [
      {
        ...(rolloutPct === undefined
          ? { name: 'default', parameters: {} }
          : {
              name: 'flexibleRollout',
              parameters: { rollout: String(rolloutPct), stickiness: 'userId', groupId: key },
            }),
        constraints: [],
        variants: [],
      },
    ],
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

/** What the import of an Unleash server takes: flags, strategies, variants and states. */
export function unleashImport(flags: readonly PeerFlag[]): object {
  const features = unleashFeatures(flags);
  return {
    features: features.map(({ name }) => ({ name, type: 'release', project: 'default', stale: false })),
    featureStrategies: features.flatMap(({ name, strategies }) =>
      strategies.map((strategy) => ({ ...strategy, featureName: name, segments: [] })),
    ),
    featureEnvironments: features.map(({ name, enabled, variants }) => ({
      name,
      featureName: name,
      environment: 'development',
      enabled,
      variants,
    })),
    contextFields: [],
    featureTags: [],
    segments: [],
    tagTypes: [],
    dependencies: [],
  };
}

/** The file of flagd. */
export function flagdFile(flags: readonly PeerFlag[]): string {
  return fileOf(flags, 'flags', ({ enabled, value, rolloutPct }) => ({
    state: enabled ? 'ENABLED' : 'DISABLED',
    variants: { text: value, none: '' },
    defaultVariant: 'text',
    ...(rolloutPct !== undefined && {
      targeting: {
        fractional: [
          ['text', rolloutPct],
          ['none', 100 - rolloutPct],
        ],
      },
    }),
  }));
}

/** The file of GO Feature Flag, which reads JSON as well as YAML. */
export function goFeatureFlagFile(flags: readonly PeerFlag[]): string {
  return fileOf(flags, undefined, ({ enabled, value, rolloutPct }) => ({
    variations: { text: value, none: '' },
    defaultRule:
      enabled && rolloutPct !== undefined
        ? { percentage: { text: rolloutPct, none: 100 - rolloutPct } }
        : { variation: enabled ? 'text' : 'none' },
  }));
}

/** The payload of GrowthBook, as its API gives it to a proxy. */
export function growthBookPayload(flags: readonly PeerFlag[]): string {
  return fileOf(flags, 'features', ({ enabled, value, rolloutPct }) =>
    enabled && rolloutPct !== undefined
      ? { defaultValue: '', rules: [{ force: value, coverage: rolloutPct / 100, hashAttribute: 'id' }] }
      : { defaultValue: enabled ? value : '' },
  );
}

/** An object with a member for each flag, inside `member` if there is one. */
function fileOf(
  flags: readonly PeerFlag[],
  member: string | undefined,
  stateOf: (flag: PeerFlag) => object,
): string {
  const states = Object.fromEntries(flags.map((flag) => [flag.key, stateOf(flag)]));
  return JSON.stringify(member === undefined ? states : { [member]: states });
}
