import { type CampaignOptions, runCampaign } from './campaign.ts';
import { checkHistory } from './checker/check-history.ts';
import { summarise } from './summary.ts';

/**
 * Runs a short campaign, in which each fault happens once where the time allows it, and returns how many frames were
 * received. Rejects with the stories of the first violations.
 */
export async function expectNoViolations(
  options: Pick<CampaignOptions, 'engine' | 'seconds' | 'faults' | 'clients'>,
): Promise<number> {
  const common = { seed: 1, rate: 40, streams: 4, betweenFaultsMs: 1_000, once: true };
  const { history, faults } = await runCampaign({ ...common, ...options });
  const violations = checkHistory(history);
  if (violations.length > 0) throw new Error(summarise(history, faults, violations));
  if (!history.writes.some((write) => write.outcome === 'acknowledged'))
    throw new Error('the campaign acknowledged no write');
  return history.streams.reduce((sum, stream) => sum + stream.frames.length, 0);
}
