import { createInterface } from 'node:readline';
import { HalyardProvider } from '@halyard/client/openfeature/server';
import { OpenFeature } from '@openfeature/server-sdk';
import manifest from '../../packages/client/package.json' with { type: 'json' };

const READS = {
  boolean: 'getBooleanDetails',
  string: 'getStringDetails',
  integer: 'getNumberDetails',
  float: 'getNumberDetails',
  object: 'getObjectDetails',
};
OpenFeature.setLogger({ error() {}, warn() {}, info() {}, debug() {} });
const client = OpenFeature.getClient();

async function evaluate({ type, key, default: fallback, targetingKey, attributes }) {
  const context = { ...attributes, ...(targetingKey !== undefined && { targetingKey }) };
  const details = await client[READS[type]](key, fallback, context);
  const { value, reason, variant, errorCode, flagMetadata } = details;
  return { value, reason, variant, errorCode, metadata: flagMetadata };
}

const STEPS = {
  /** The client takes the key and the environment by themselves, and sends the key in its one header. */
  async connect({ url, headers }) {
    const { origin, pathname } = new URL(url);
    const apiKey = Object.values(headers)[0].replace('Bearer ', '');
    const environment = /^\/environments\/([^/]+)/.exec(pathname)?.[1] ?? headers['X-Flags-Environment'];
    const provider = new HalyardProvider({ apiKey, environment, baseUrl: origin, onError() {} });
    await OpenFeature.setProviderAndWait(provider).catch(() => {}); // reads then say why
    return {};
  },
  evaluate,
  async evaluateMany({ targetingKeys, ...read }) {
    const values = [];
    for (const targetingKey of targetingKeys) values.push((await evaluate({ ...read, targetingKey })).value);
    return { values };
  },
};

function answer(data) {
  process.stdout.write(`${JSON.stringify(data)}\n`);
}

answer({ provider: manifest.version, runtime: `Bun ${process.versions.bun}` });
for await (const line of createInterface({ input: process.stdin })) {
  const step = JSON.parse(line);
  answer(await STEPS[step.do](step));
}
await OpenFeature.close();
