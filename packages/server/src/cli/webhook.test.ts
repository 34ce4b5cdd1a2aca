import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type NodeProcess, startNode, until } from '@halyard/testing';
import { Webhook as Verifier } from 'standardwebhooks';
import { Receiver } from '../nouns/webhooks/test-receiver.ts';
import { type CliRun, runCaptured } from './test-shell.ts';

let node: NodeProcess;
const receiver = new Receiver();

beforeAll(async () => {
  node = await startNode({ env: { HALYARD_WEBHOOK_NETWORKS: '127.0.0.0/8', HALYARD_DRAIN_SECONDS: '0' } });
  await halyard('project create shop');
}, 60_000);

afterAll(async () => {
  receiver.stop();
  await node.stop();
}, 60_000);

function halyard(line: string, isTerminal = true): Promise<CliRun> {
  const env = { HALYARD_URL: node.url, HALYARD_TOKEN: node.adminToken };
  return runCaptured(line.split(' '), { env, isTerminal });
}

test('a webhook is created, gets changes of a running node, and is managed from the command line', async () => {
  const url = receiver.url('ci');
  const created = await halyard(`webhook create ci --project shop --to ${url} --env production`);
  expect(created).toMatchObject({ exitCode: 0, err: expect.stringContaining('all changes in production') });
  const secret = created.out.trim();
  expect(secret).toStartWith('whsec_');
  await halyard('flag create banner --project shop');
  await halyard('flag set banner --project shop --env staging --on');
  await halyard('flag set banner --project shop --env production --on');
  const messages = await until('three messages have arrived', () => {
    const got = receiver.messages('ci');
    return got.length === 3 ? got : undefined;
  });
  const data = messages.map(
    ({ body, headers }) => (new Verifier(secret).verify(body, headers) as { data: never }).data,
  );
  const change = { action: 'flag.changed', environment: 'production', target: 'banner' };
  expect(data).toMatchObject([
    { events: [{ action: 'webhook.created', target: 'ci' }] },
    { events: [{ action: 'flag.created', target: 'banner' }] },
    { events: [{ ...change, after: { enabled: true } }], url: expect.stringContaining(node.url) },
  ]);

  expect((await halyard('webhook list --project shop')).out).toMatch(/^NAME[\s\S]*\nci +http.* active /);
  expect((await halyard('webhook test ci --project shop')).out).toMatch(
    /^The receiver answered 200 after \d+ ms/,
  );
  receiver.answer('ci', () => new Response('no such job', { status: 404 }));
  expect(await halyard('webhook test ci --project shop')).toMatchObject({
    exitCode: 1,
    err: expect.stringContaining('answered 404 instead of 2xx. It said: no such job'),
  });
  receiver.forgetAnswers();
  const { seq } = JSON.parse(messages[2]?.body ?? '').data;
  expect((await halyard(`webhook replay ci ${seq} --project shop`)).exitCode).toBe(0);
  const replayed = receiver.messages('ci').at(-1);
  expect([replayed?.headers['webhook-id'], replayed?.body]).toEqual([
    messages[2]?.headers['webhook-id'],
    messages[2]?.body,
  ]);
  expect((await halyard('webhook replay ci 9999 --project shop')).exitCode).toBe(3);
  const { out } = await halyard('webhook deliveries ci --project shop');
  expect(out).toMatch(
    /\n6 .* replay +delivered +200 .*\n5 .* test +failed +404 .*\n4 .* test +delivered +200 /,
  );

  receiver.answer('ci', () => new Response('channel_not_found', { status: 500 }));
  await halyard('flag set banner --project shop --env production --off');
  const failing = await until('the change fails', async () => {
    const { out } = await halyard('webhook show ci --project shop');
    return out.includes('channel_not_found') ? out : undefined;
  });
  const [, stuck] = /^Change (\d+) failed .*: The receiver answered 500/m.exec(failing) ?? [];
  expect(failing).toContain('waiting: 1, since ');
  expect((await halyard('webhook skip ci 1 --project shop')).exitCode).toBe(3);
  expect((await halyard(`webhook skip ci ${stuck} --project shop`)).out).toBe(
    `Skipped change ${stuck} for webhook ci. Waiting: 0.\n`,
  );
  receiver.forgetAnswers();

  expect((await halyard('webhook rotate ci --project shop --overlap 1')).out).not.toContain(secret);
  expect((await halyard('webhook pause ci --project shop')).out).toBe('Paused webhook ci.\n');
  expect((await halyard('webhook show ci --project shop')).out).toContain('Status: paused');
  expect((await halyard('webhook resume ci --project shop --skip')).exitCode).toBe(0);
  expect((await halyard('webhook update ci --project shop --env all --events flag')).exitCode).toBe(0);
  expect((await halyard('webhook show ci --project shop')).out).toContain('sends changes of flag to');
  expect((await halyard('webhook delete ci --project shop')).exitCode).toBe(2);
  expect((await halyard('webhook delete ci --project shop --yes')).exitCode).toBe(0);
  const { out: scraped } = { out: await (await fetch(`${node.url}/metrics`)).text() };
  expect(scraped).toMatch(/halyard_webhook_deliveries_total\{outcome="delivered"\} [3-9]/);
  expect(node.logs()).not.toContain('whsec_');
}, 60_000);

test('invalid URLs, names and options are refused, and the error says what would be right', async () => {
  const create = (rest: string) => halyard(`webhook create x --project shop ${rest}`);
  expect((await create('--to http://93.184.216.34/')).err).toContain('needs https://');
  expect((await create('--to https://169.254.169.254/')).err).toContain('is not public');
  expect((await create('--to https://a:b@example.com/')).err).toContain('user name or password');
  expect((await create('--to https://example.com/ --env nowhere')).exitCode).toBe(3);
  expect((await create('--to https://example.com/ --format xml')).err).toContain('format');
  expect((await halyard('webhook create X --project shop --to https://example.com/')).err).toContain(
    'name of a webhook',
  );
  expect((await halyard('webhook show x --project shop')).exitCode).toBe(3);
}, 60_000);

test('a webhook of the installation gets what belongs to no project, and is named by --installation', async () => {
  const url = receiver.url('siem');
  const { out } = await halyard(`webhook create siem --installation --to ${url}`);
  await halyard('token create --name robot --role viewer');
  const [, message] = await until('two messages have arrived', () => {
    const got = receiver.messages('siem');
    return got.length === 2 ? got : undefined;
  });
  if (message === undefined) throw new Error('the message is missing');
  expect(new Verifier(out.trim()).verify(message.body, message.headers)).toMatchObject({
    type: 'audit',
    data: { actor: 'token:admin', events: [{ action: 'token.created' }] },
  });
  expect((await halyard('webhook list --installation')).out).toMatch(/\nsiem +http/);
  expect((await halyard('webhook list --installation --project shop')).exitCode).toBe(2);
  expect(await halyard('webhook list')).toMatchObject({
    exitCode: 2,
    err: expect.stringContaining('--installation'),
  });
  expect((await halyard('webhook delete siem --installation --yes')).exitCode).toBe(0);
});
