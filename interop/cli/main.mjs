import { OFREPProvider } from '@openfeature/ofrep-provider';
import { OpenFeature } from '@openfeature/server-sdk';
import { getGeneratedClient } from './flags/openfeature.ts';

const { BASE_URL, HALYARD_KEY } = process.env;
await OpenFeature.setProviderAndWait(
  new OFREPProvider({ baseUrl: BASE_URL, headers: { 'X-API-Key': HALYARD_KEY } }),
);
const flags = getGeneratedClient();
const user = { targetingKey: 'user-4' };
const values = await Promise.all([
  flags.half(user),
  flags.text(user),
  flags.integer(user),
  flags.float(user),
  flags.object(user),
]);
process.stdout.write(`${JSON.stringify(values)}\n`);
await OpenFeature.close();
