import { expect, test } from 'bun:test';
import { ManagementError, PATIENCE_MS } from '@halyard/testing';
import { runCampaignOn } from './campaign.ts';
import { checkHistory } from './checker/check-history.ts';
import { prepare } from './preparation.ts';
import { type Sickness, SickServer } from './sick-server.ts';

const refusal = (status: number) => new ManagementError('POST /api/keys', status, {}, new Headers());

test('retries a preparation while the server fails, and returns its result', async () => {
  const causes = [refusal(500), refusal(429), new TypeError('the connection was refused')];
  const result = await prepare('a key', async () => {
    const cause = causes.shift();
    if (cause !== undefined) throw cause;
    return 'made';
  });
  expect(result).toBe('made');
});

test('names a preparation that is refused permanently, or for too long', async () => {
  let tries = 0;
  const always = (status: number) => () => {
    tries += 1;
    return Promise.reject(refusal(status));
  };
  await expect(prepare('a key', always(400))).rejects.toThrow(
    'a key could not be prepared: POST /api/keys answered 400: {}',
  );
  expect(tries).toBe(1);
  await expect(prepare('a key', always(500), 400)).rejects.toThrow('a key could not be prepared');
  expect(tries).toBeGreaterThan(1);
});

test('a campaign waits for a server that refuses preparations for a moment', async () => {
  const { history, faults } = await revokeKeys('refuses every second key');
  expect(checkHistory(history)).toEqual([]);
  expect(faults.get('key revoked')).toBeGreaterThan(0);
});

test('a campaign that cannot prepare its next fault says which one', async () => {
  await expect(revokeKeys('refuses keys while there are writers', 300)).rejects.toThrow(
    'the fault "key revoked" could not be caused: the key could not be prepared: POST /api/projects/',
  );
});

test('ends with an error when a campaign could not be carried out', async () => {
  const program = Bun.spawn(
    [
      process.execPath,
      `${import.meta.dir}/run.ts`,
      '--engine',
      'sqlite',
      '--seconds',
      '1',
      '--faults',
      'rain',
    ],
    { stdout: 'pipe', stderr: 'pipe' },
  );
  const output = await new Response(program.stdout).text();
  expect(output).toContain('not carried out: there is no fault rain');
  expect(output).toEndWith('0 passed, 1 failed\n');
  expect(await program.exited).toBe(1);
});

async function revokeKeys(sickness: Sickness, preparationMs = PATIENCE_MS) {
  using server = new SickServer(sickness);
  const { fleet } = server;
  await Promise.all(fleet.nodes.map((node) => node.start()));
  return await runCampaignOn(fleet, {
    seed: 7,
    seconds: 1,
    rate: 100,
    streams: 4,
    convergenceMs: 1_000,
    betweenFaultsMs: 300,
    faults: ['key revoked'],
    preparationMs,
  });
}
