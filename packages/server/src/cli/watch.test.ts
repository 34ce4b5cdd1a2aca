import { afterAll, beforeAll, expect, test } from 'bun:test';
import {
  lastingPort,
  type NodeProcess,
  randomAdminToken,
  startNode,
  temporaryFolder,
  within,
} from '@halyard/testing';
import { type CapturedShellOptions, runCaptured } from './test-shell.ts';

let node: NodeProcess;

beforeAll(async () => {
  node = await startNode({ env: { HALYARD_DRAIN_SECONDS: '0' } });
  await halyard('project create shop');
}, 60_000);

afterAll(async () => {
  await node.stop();
}, 60_000);

function halyard(line: string, options: CapturedShellOptions = {}) {
  return runCaptured(line.split(' '), {
    ...options,
    env: { HALYARD_URL: node.url, HALYARD_TOKEN: node.adminToken },
  });
}

/** Watches until the environment is deleted; `steps` run one after another, each once the text before it was seen. */
async function watch(
  line: string,
  steps: readonly (readonly [text: string, command: string])[],
  isTerminal = true,
) {
  const left = [...steps];
  let doing = Promise.resolve();
  const run = await halyard(line, {
    isTerminal,
    onOutput: (out) => {
      const [text, command] = left[0] ?? [];
      if (text === undefined || command === undefined || !out.includes(text)) return;
      left.shift();
      doing = doing.then(async () => {
        expect(await halyard(command)).toMatchObject({ exitCode: 0 });
      });
    },
  });
  await doing;
  return run;
}

test('watch shows each change as a line, and ends with 3 once the environment is deleted', async () => {
  await halyard('environment create shop preview');
  await halyard('flag set old --project shop --env preview --on');
  const run = await watch('watch --project shop --env preview', [
    ['1 flag,', 'flag set fresh --project shop --env preview --on --rollout 25'],
    ['+ fresh', 'flag set fresh --project shop --env preview --off'],
    ['~ fresh', 'flag delete old --project shop --env preview'],
    ['- old', 'environment delete shop preview --yes'],
  ]);
  const lines = run.out.trimEnd().split('\n');
  for (const line of lines) expect(line).toMatch(/^\d\d:\d\d:\d\d {2}/);
  expect(lines.map((line) => line.slice(10))).toEqual([
    'Watching preview of shop: 1 flag, revision 1.',
    '+ fresh: on, 25%',
    '~ fresh: on, 25% -> off, 25%',
    '- old (was on)',
  ]);
  expect(run.err).toStartWith('The stream ended. Retrying in ');
  expect(run.err).toContain('/errors/environment_not_found');
  expect(run.exitCode).toBe(3);
}, 60_000);

test('watch writes each frame as one line of JSON when piped', async () => {
  await halyard('environment create shop piped');
  const run = await watch(
    'watch --project shop --env piped',
    [
      ['{}', 'flag set fresh --project shop --env piped --on'],
      ['fresh', 'environment delete shop piped --yes'],
    ],
    false,
  );
  expect(run.out).toBe('{}\n{"fresh":{"enabled":true}}\n');
}, 60_000);

test('watch and audit --follow reconnect after a server restart, and show the changes they missed', async () => {
  using data = temporaryFolder();
  const settings = {
    adminToken: randomAdminToken(),
    dataFolder: data.path,
    env: { HALYARD_DRAIN_SECONDS: '0' },
  };
  const port = ['--port', `${lastingPort()}`];
  const first = await startNode({ ...settings, arguments: port });
  const env = { HALYARD_URL: first.url, HALYARD_TOKEN: settings.adminToken };
  const run = async (line: string) => {
    expect(await runCaptured(line.split(' '), { env })).toMatchObject({ exitCode: 0 });
  };

  await run('project create shop');
  const created = await runCaptured(['token', 'create', '--name', 'follower', '--role', 'admin', '--json'], {
    env,
  });
  const follower = JSON.parse(created.out);

  // The restart must not come before its first answer: an address that never answered is given up.
  const { promise: isFollowing, resolve: printed } = Promise.withResolvers<void>();
  const following = runCaptured(['audit', '--follow', '--since', '0'], {
    env: { ...env, HALYARD_TOKEN: follower.token },
    onOutput: () => printed(),
  });
  await within('the audit log is followed', isFollowing);

  let restarted: Promise<NodeProcess> | undefined;
  const { promise: bothSawIt, resolve: end } = Promise.withResolvers<void>();
  const seenBy = new Set<string>();
  const see = (who: string, out: string) => {
    if (out.includes('fresh')) seenBy.add(who);
    if (seenBy.size === 2) end();
  };

  const { promise: watcherIsAlone, resolve: missed } = Promise.withResolvers<void>();
  const restart = async () => {
    await first.stop();
    // The change uses another port, so that the watcher cannot see it happen.
    const between = await startNode(settings);
    await run(`flag set fresh --project shop --env staging --on --url ${between.url}`);
    await between.stop();
    await within('the watcher finds no server', watcherIsAlone);
    return await startNode({ ...settings, arguments: port });
  };

  const command = ['watch', '--project', 'shop', '--env', 'staging'];
  const asJson = runCaptured([...command, '--json'], { env, onOutput: (out) => see('program', out) });
  const ended = within('both watchers see the change', bothSawIt, 100_000).then(() =>
    run('environment delete shop staging --yes'),
  );
  const watched = await runCaptured(command, {
    env,
    isTerminal: true,
    onOutput: (out) => {
      restarted ??= restart();
      see('person', out);
    },
    onError: (err) => {
      if (err.includes('No server is running at ')) missed();
    },
  });

  await ended;
  expect((await asJson).out).toBe('{}\n{"fresh":{"enabled":true}}\n');

  // Its token ends it.
  await run(`token revoke ${follower.id}`);
  const followed = await within('the audit log is not followed any longer', following);
  expect(followed.exitCode).toBe(4);
  const entries = followed.out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(new Set(entries.map(({ cursor }) => cursor)).size).toBe(entries.length);
  expect(entries.map(({ seq }) => seq)).toEqual(entries.map(({ seq }) => seq).toSorted((a, b) => a - b));
  const actions = entries.map(({ action }) => action);
  expect(actions).toContain('flag.created');
  expect(actions.slice(0, 2)).toEqual(['project.created', 'environment.created']);
  // The nodes that stopped have chained what they had.
  const { out: verified } = await runCaptured(['audit', 'verify'], { env });
  expect(JSON.parse(verified)).toMatchObject({
    problems: [],
    head: expect.stringMatching(/^\d+:[0-9a-f]{64}$/),
  });
  await (await restarted)?.stop();
  expect(watched.out).toMatch(
    /Watching staging of shop: 0 flags, revision 0\.\n.{10}Reconnected to staging of shop: 1 flag, revision 1\.\n.{10}\+ fresh: on\n$/,
  );
  expect(watched.exitCode).toBe(3);
}, 120_000);

test('watch does not retry an address that has never answered', async () => {
  const run = await halyard('watch --project p --env e --url http://127.0.0.1:1');
  expect(run).toMatchObject({ exitCode: 1, out: '' });
  expect(run.err).toStartWith('error: No server is running at http://127.0.0.1:1.');
});
