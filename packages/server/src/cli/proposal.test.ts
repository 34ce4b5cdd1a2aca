import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type NodeProcess, startNode } from '@halyard/testing';
import { commandsAt } from './test-shell.ts';

let node: NodeProcess;
const { halyard, json, seen } = commandsAt(() => node);
const SET = 'flag set checkout --project shop --env production';
const PASSWORD = 'correct horse battery';

/** Two people who may approve, each with the headers of their browser. */
const people: Record<string, string>[] = [];

beforeAll(async () => {
  node = await startNode({ env: { HALYARD_DRAIN_SECONDS: '0' } });
  await halyard('project create shop');
  for (const name of ['ada', 'ben']) people.push(await joined(`${name}@example.com`));
  await halyard(`${SET} --off`);
  await halyard('environment update shop production --approvals 1');
}, 60_000);

afterAll(() => node.stop(), 60_000);

async function joined(email: string): Promise<Record<string, string>> {
  const send = (path: string, body: object, headers: Record<string, string> = {}) =>
    fetch(`${node.url}/api${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  const token = { Authorization: `Bearer ${node.adminToken}` };
  const invited = JSON.parse(await (await send('/invitations', { email, role: 'admin' }, token)).text());
  const origin = { Origin: node.url };
  const answer = await send('/invitations/accept', { token: invited.token, password: PASSWORD }, origin);
  return { ...origin, Cookie: answer.headers.getSetCookie()[0]?.split(';')[0] ?? '' };
}

async function approve(id: string): Promise<void> {
  const url = `${node.url}/api/projects/shop/proposals/${id}/approve`;
  const headers = { ...people[0], 'X-Confirm-Environment': 'production' };
  const { status } = await fetch(url, { method: 'POST', headers });
  expect(status).toBe(200);
}

test('a change that needs approval is refused, and says how to propose it', async () => {
  const { exitCode, err } = await halyard(`${SET} --on`);
  expect(exitCode).toBe(4);
  expect(err).toContain('--propose');
});

test('a proposed change is listed, shown and withdrawn', async () => {
  const proposed = await seen([...`${SET} --on --propose --note`.split(' '), 'launch day']);
  const [, id = ''] = /^Proposed 1 change of production \(proposal (\S+)\)\./.exec(proposed) ?? [];
  expect(await seen('proposal list --project shop')).toContain('flag.changed checkout');
  const shown = await seen(`proposal show ${id} --project shop`);
  expect(shown).toContain('{"enabled":false}');
  expect(shown).toContain('launch day');

  expect(await seen(`proposal withdraw ${id} --project shop`)).toBe(`Withdrew proposal ${id}.\n`);
  expect((await json('proposal list --project shop')).proposals).toEqual([]);
  expect(await seen('proposal list --project shop --all')).toContain('withdrawn');
});

test('a pipeline waits until people have decided', async () => {
  let answered = false;
  const run = await halyard(`${SET} --rollout 5 --propose --wait`, {
    onOutput: (out) => {
      if (answered) return;
      answered = true;
      void approve(JSON.parse(out).id);
    },
  });
  expect(run).toMatchObject({ exitCode: 0, err: expect.stringContaining('the change was made') });
  expect((await json('flag get checkout --project shop --env production')).state.rolloutPct).toBe(5);
});

test('a change needs --note where reasons are required', async () => {
  const updated = await seen('environment update shop staging --require-reason');
  expect(updated).toContain('reasons required');
  const set = SET.replace('production', 'staging');
  const refused = await halyard(`${set} --on`);
  expect([refused.exitCode, refused.err]).toEqual([4, expect.stringContaining('--note')]);
  await json(`${set} --on --note launch`);
  await json('environment update shop staging --no-require-reason --note done');
});

test('an emergency is made at once, with its reason', async () => {
  const missing = await halyard(`${SET} --on --emergency`);
  expect([missing.exitCode, missing.err]).toEqual([2, expect.stringContaining('--note')]);
  await json(`${SET} --on --emergency --note down`);
  const { proposals } = await json('proposal list --project shop');
  expect(proposals).toMatchObject([{ status: 'emergency', note: 'down' }]);
});
