import { afterAll, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { OpenFeature } from '@openfeature/server-sdk';
import { SCENARIOS } from '../../../conformance/clients/scenarios.ts';
import type { Target } from '../../../conformance/clients/targets.ts';
import { createTestClient } from '../src/testing.ts';
import { ContractSteps, type RunAddress } from './support/contract-steps.ts';

const ROOT = join(import.meta.dir, '../../..');
const CONTRACT = readFileSync(join(ROOT, 'docs/client-contract.md'), 'utf8');

/** More than any scenario takes on a busy machine. */
const LIMIT_MS = 60_000;

/** The clause whose scenarios move megabytes: they would hold up the others, whose time is scaled. */
const OF_SIZE = 'C2.10';

// As other languages use it: a process of its own.
const server = Bun.spawn([process.execPath, join(ROOT, 'conformance/clients/serve.ts')], {
  stdin: 'pipe',
  stdout: 'pipe',
});
const { url } = await introduction();

afterAll(async () => {
  await OpenFeature.clearProviders();
  await server.stdin.end();
  await server.exited;
});

for (const { clause, name, steps } of SCENARIOS) {
  const runTest = clause === OF_SIZE ? test : test.concurrent;
  runTest(
    `${clause} ${name}`,
    async () => {
      const started = await fetch(`${url}/scenarios/${name}/runs`, { method: 'POST' });
      // As README.md of the contract server says; a wrong answer fails the first step.
      await using run = new ContractSteps(url, (await started.json()) as RunAddress);
      for (const [at, step] of steps.entries())
        await run.take(step).catch((error: Error) => {
          throw new Error(`step ${at + 1}, ${step.do}: ${error.message}`);
        });
    },
    LIMIT_MS,
  );
}

test('C4.2 ten thousand random targets are in the rollouts that they are in elsewhere', async () => {
  const answer = await fetch(`${url}/targets?seed=1&count=10000`);
  const targets = (await answer.json()) as readonly Target[]; // the server's own type
  const others = targets.filter(({ flagKey, targetingKey, rolloutPct, isIn }) => {
    const client = createTestClient({ flags: { [flagKey]: { enabled: true, rolloutPct } } });
    return client.isEnabled(flagKey, { targetingKey }) !== isIn;
  });
  expect(others).toEqual([]);
  expect(targets).toHaveLength(10_000);
});

test('every clause of the contract has a scenario or names the test that holds it', () => {
  const stated = [...CONTRACT.matchAll(/^- \*\*(C\d+\.\d+)\*\* /gm)].map(([, clause]) => clause);
  const excused = [...CONTRACT.matchAll(/^\| (C\d+\.\d+) \| \S.+ \|$/gm)].map(([, clause]) => clause);
  const proven = SCENARIOS.map(({ clause }) => clause as string | undefined);
  expect(stated.filter((clause) => !proven.includes(clause) && !excused.includes(clause))).toEqual([]);
  expect([...proven, ...excused].filter((clause) => !stated.includes(clause))).toEqual([]);
  expect(excused.filter((clause) => proven.includes(clause))).toEqual([]);
  expect(new Set(SCENARIOS.map(({ name }) => name)).size).toBe(SCENARIOS.length);
});

/** The first line of the server. */
async function introduction(): Promise<{ readonly url: string }> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const piece of server.stdout) {
    text += decoder.decode(piece);
    if (text.includes('\n')) break;
  }
  return JSON.parse(text);
}
