import type { FlagRecord } from '../api/types.ts';
import { STALE_DAYS, staleDays } from './flag-filter.ts';

/** Whether a flag has done its work: it has been on for everyone, with one value, in every environment for 30 days. */
export function isDone(flag: FlagRecord, environments: number, now: number): boolean {
  const states = Object.values(flag.environments);
  const isOn = states.every(({ state }) => state.enabled && (state.rolloutPct ?? 100) === 100);
  return isOn && states.length > 0 && staleDays(flag, environments, now) >= STALE_DAYS.stale30;
}
