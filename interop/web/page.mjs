import { OFREPWebProvider } from '@openfeature/ofrep-web-provider';
import { OpenFeature } from '@openfeature/web-sdk';

const READS = {
  boolean: 'getBooleanDetails',
  string: 'getStringDetails',
  integer: 'getNumberDetails',
  float: 'getNumberDetails',
  object: 'getObjectDetails',
};
OpenFeature.setLogger({ error() {}, warn() {}, info() {}, debug() {} });
const client = OpenFeature.getClient();
/** The context of the flags that the provider holds, as text. */
let current = '{}';

async function evaluate({ type, key, default: fallback, targetingKey, attributes }) {
  const context = { ...attributes, ...(targetingKey !== undefined && { targetingKey }) };
  if (JSON.stringify(context) !== current) {
    current = JSON.stringify(context);
    await OpenFeature.setContext(context);
  }
  const { value, reason, variant, errorCode, flagMetadata } = client[READS[type]](key, fallback);
  return { value, reason, variant, errorCode, metadata: flagMetadata };
}

const STEPS = {
  async connect({ path, headers }) {
    const provider = new OFREPWebProvider({
      baseUrl: location.origin + path,
      headers: Object.entries(headers),
      cacheMode: 'disabled', // each connection starts with nothing
    });
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

/** Answers a step, as `interop/README.md` describes it; `path` is the part of `url` after its origin. */
window.ask = (step) => STEPS[step.do](step);
