import { createRequire } from 'node:module';
import { OFREPProvider } from '@openfeature/ofrep-provider';
import { OpenFeature } from '@openfeature/server-sdk';
import { runServerProgram } from '../server-program.mjs';

await runServerProgram({
  OpenFeature,
  version: createRequire(import.meta.url)('@openfeature/ofrep-provider/package.json').version,
  async connect({ url, headers }) {
    await OpenFeature.setProviderAndWait(new OFREPProvider({ baseUrl: url, headers }));
  },
});
