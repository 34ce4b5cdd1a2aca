import { readConfigCat } from './configcat.ts';
import type { Reader } from './conversion.ts';
import { readFlagd } from './flagd.ts';
import { readFlagsmith } from './flagsmith.ts';
import { readFlipt } from './flipt.ts';
import { readGoFeatureFlag } from './go-feature-flag.ts';
import { readGrowthBook } from './growthbook.ts';
import { readLaunchDarkly } from './launchdarkly.ts';
import { readUnleash } from './unleash.ts';

/** The services whose flags can be converted. */
export const SERVICES = {
  unleash: readUnleash,
  launchdarkly: readLaunchDarkly,
  flagsmith: readFlagsmith,
  flagd: readFlagd,
  goff: readGoFeatureFlag,
  flipt: readFlipt,
  growthbook: readGrowthBook,
  configcat: readConfigCat,
} as const satisfies Readonly<Record<string, Reader>>;

/** One of {@link SERVICES}. */
export type ServiceName = keyof typeof SERVICES;
