import { expect, test } from 'bun:test';
import { runCampaignOn } from './campaign.ts';
import { checkHistory, DEFAULT_LIMITS } from './checker/check-history.ts';
import type { ViolationKind } from './checker/violation.ts';
import { type Sickness, SickServer } from './sick-server.ts';

const SICKNESSES: readonly (readonly [Sickness, readonly ViolationKind[]])[] = [
  ['skips a frame', ['skip']],
  ['repeats a frame', ['repeat']],
  ['swaps two frames', ['skip']],
  ['mixes two revisions', ['mix']],
  ['sends a frame of another environment', ['foreign']],
  ['forgets an acknowledged write', ['double-revision', 'wrong-audit']],
  ['leaves a stream without news', ['not-converged']],
  ['leaves a removal out of a change', ['mix']],
  ['names a wrong revision in a change', ['wrong-change']],
  ['skips an event', ['skip']],
  ['repeats an event', ['repeat']],
  ['answers a read from before its event', ['behind-event']],
  ['keeps streams of revoked keys', ['not-closed', 'served-after-end']],
];

test.concurrent('a campaign finds nothing wrong with a server that is well', async () => {
  expect(await diagnose('none')).toEqual(new Set());
}, 150_000);

for (const [sickness, kinds] of SICKNESSES) {
  test.concurrent(`a campaign notices a server that ${sickness}`, async () => {
    const found = await diagnose(sickness);
    for (const kind of kinds) expect(found).toContain(kind);
  }, 150_000);
}

async function diagnose(sickness: Sickness): Promise<ReadonlySet<ViolationKind>> {
  using server = new SickServer(sickness);
  const { fleet } = server;
  await Promise.all(fleet.nodes.map((node) => node.start()));
  const { history } = await runCampaignOn(fleet, {
    seed: 7,
    seconds: 1,
    rate: 100,
    streams: 4,
    convergenceMs: 1_000,
    betweenFaultsMs: 300,
    isEnough: () => server.isDone,
    faults: sickness === 'keeps streams of revoked keys' ? ['key revoked'] : [],
  });
  const revoked = { ...DEFAULT_LIMITS.revoked, closeMs: 1_000 };
  return new Set(checkHistory(history, { ...DEFAULT_LIMITS, revoked }).map(({ kind }) => kind));
}
