import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { OFREPProvider } from '@openfeature/ofrep-provider';
import { OpenFeature } from '@openfeature/server-sdk';

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
  async connect({ url, headers }) {
    await OpenFeature.setProviderAndWait(new OFREPProvider({ baseUrl: url, headers }));
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

const { version } = createRequire(import.meta.url)('@openfeature/ofrep-provider/package.json');
const runtime = process.versions.bun ? `Bun ${process.versions.bun}` : `Node ${process.versions.node}`;
answer({ provider: version, runtime });
for await (const line of createInterface({ input: process.stdin })) {
  const step = JSON.parse(line);
  answer(await STEPS[step.do](step));
}
await OpenFeature.close();
