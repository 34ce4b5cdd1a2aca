import { OFREPWebProvider } from '@openfeature/ofrep-web-provider';
import { OpenFeature } from '@openfeature/web-sdk';
import { openFeatureSteps } from '../openfeature-steps.mjs';

OpenFeature.setLogger({ error() {}, warn() {}, info() {}, debug() {} });
const client = OpenFeature.getClient();
/** The context of the flags that the provider holds, as text. */
let current = '{}';

async function connect({ path, headers }) {
  const provider = new OFREPWebProvider({
    baseUrl: location.origin + path,
    headers: Object.entries(headers),
    cacheMode: 'disabled', // each connection starts with nothing
  });
  await OpenFeature.setProviderAndWait(provider).catch(() => {}); // reads then say why
}

async function read(method, key, fallback, context) {
  if (JSON.stringify(context) !== current) {
    current = JSON.stringify(context);
    await OpenFeature.setContext(context);
  }
  return client[method](key, fallback);
}

const steps = openFeatureSteps(connect, read);

/** Answers a step, as `interop/README.md` describes it; `path` is the part of `url` after its origin. */
window.ask = (step) => steps[step.do](step);
