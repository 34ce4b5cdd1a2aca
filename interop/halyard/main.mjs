import { createClient } from '@halyard/client';
import { HalyardProvider } from '@halyard/client/openfeature/server';
import { OpenFeature } from '@openfeature/server-sdk';
import manifest from '../../package.json' with { type: 'json' };
import { runServerProgram } from '../server-program.mjs';

/** The client of the last connection. */
let client;

await runServerProgram({
  OpenFeature,
  version: manifest.version,
  /** The client takes the key and the environment by themselves, and sends the key in its one header. */
  async connect({ url, headers }) {
    const { origin, pathname } = new URL(url);
    const apiKey = Object.values(headers)[0].replace('Bearer ', '');
    const environment = /^\/environments\/([^/]+)/.exec(pathname)?.[1] ?? headers['X-Flags-Environment'];
    await client?.close();
    client = createClient({ apiKey, environment, baseUrl: origin, onError() {} });
    await OpenFeature.setProviderAndWait(new HalyardProvider(client)).catch(() => {}); // reads then say why
  },
  watch(key, tell) {
    const tellNow = () => {
      const { enabled, state } = client.evaluate(key, null);
      tell({ key, revision: client.revision, enabled, value: state?.value });
    };
    tellNow();
    client.onChange(tellNow, { keys: [key] });
  },
});

await client?.close();
