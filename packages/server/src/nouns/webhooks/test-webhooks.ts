import { afterAll, beforeAll, beforeEach, expect } from 'bun:test';
import pino from 'pino';
import { TestApp } from '../../management/api/test-app.ts';
import { SqlStore } from '../../storage/store.ts';
import { openTestStore, type TestEngine } from '../../storage/test-engines.ts';
import { Receiver } from './test-receiver.ts';
import { WebhookRunner } from './webhook-runner.ts';

/** Webhooks of an application on the engine, with a receiver, for the tests of a `describe`. */
export function sharedWebhooks(engine: TestEngine) {
  let app: TestApp;
  let receiver: Receiver;
  let runners: WebhookRunner[] = [];
  beforeAll(async () => {
    const home = await openTestStore(engine);
    app = new TestApp({ ...home, store: new SqlStore(home.database, { now: () => app.node.now }) });
    receiver = new Receiver();
  });
  beforeEach(() => {
    // Verifiers compare the time with the real one.
    app.node.now = Date.now();
    receiver.forgetAnswers();
  });
  afterAll(async () => {
    await Promise.all(runners.map((runner) => runner.close()));
    receiver.stop();
    await app.close();
  });

  /** A node on the same database; `store`: over a connection of its own. */
  function node(store = app.context.store, random = () => 0.5): WebhookRunner {
    const runner = new WebhookRunner({
      context: { ...app.context, store },
      sender: app.webhooks,
      node: Bun.randomUUIDv7(),
      log: pino({ level: 'silent' }),
      isReady: () => true,
      random,
    });
    runners = [...runners, runner];
    return runner;
  }

  /** A project with a webhook to a path of the receiver, which has got the message of its own creation. */
  async function hooked(settings: object = {}) {
    const { name: project, path } = await app.project();
    const url = receiver.url(project);
    const made = await app.call('POST', `${path}/webhooks`, { body: { name: 'ci', url, ...settings } });
    expect([made.status, made.text]).toEqual([201, expect.stringContaining('whsec_')]);
    const runner = node();
    await runner.runOnce();
    receiver.messages(project).splice(0);
    const set = async (key: string, state: object, environment = 'production') => {
      const answer = await app.call('PUT', `${path}/environments/${environment}/flags/${key}`, {
        body: state,
      });
      return answer.json.seq as number;
    };
    const record = async () => (await app.call('GET', `${path}/webhooks/ci`)).json;
    const deliveries = async () => (await app.call('GET', `${path}/webhooks/ci/deliveries`)).json.deliveries;
    const secret = made.json.secret as string;
    return { project, path, runner, set, record, deliveries, secret, got: () => receiver.messages(project) };
  }

  return {
    get app() {
      return app;
    },
    get receiver() {
      return receiver;
    },
    node,
    hooked,
  };
}
