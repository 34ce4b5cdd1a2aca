import { HalyardProvider } from '@halyard/client/openfeature/server';
import { OpenFeature } from '@openfeature/server-sdk';
import manifest from '../../packages/client/package.json' with { type: 'json' };
import { runServerProgram } from '../server-program.mjs';

await runServerProgram({
  OpenFeature,
  version: manifest.version,
  /** The client takes the key and the environment by themselves, and sends the key in its one header. */
  async connect({ url, headers }) {
    const { origin, pathname } = new URL(url);
    const apiKey = Object.values(headers)[0].replace('Bearer ', '');
    const environment = /^\/environments\/([^/]+)/.exec(pathname)?.[1] ?? headers['X-Flags-Environment'];
    const provider = new HalyardProvider({ apiKey, environment, baseUrl: origin, onError() {} });
    await OpenFeature.setProviderAndWait(provider).catch(() => {}); // reads then say why
  },
});
