import type { Scenario } from './scenario.ts';
import { BROKEN_CHANGES } from './scenarios/broken-changes.ts';
import { CHANGES } from './scenarios/changes.ts';
import { END } from './scenarios/end.ts';
import { KEY } from './scenarios/key.ts';
import { MAPS } from './scenarios/maps.ts';
import { ORDER } from './scenarios/order.ts';
import { READS } from './scenarios/reads.ts';
import { REFUSALS } from './scenarios/refusals.ts';
import { RETRIES } from './scenarios/retries.ts';
import { STATE } from './scenarios/state.ts';
import { STATUS } from './scenarios/status.ts';
import { STREAM } from './scenarios/stream.ts';
import { USAGE } from './scenarios/usage.ts';

/** Every scenario. */
export const SCENARIOS: readonly Scenario[] = [
  READS,
  STREAM,
  MAPS,
  RETRIES,
  REFUSALS,
  ORDER,
  STATUS,
  KEY,
  STATE,
  USAGE,
  END,
  CHANGES,
  BROKEN_CHANGES,
].flat();
