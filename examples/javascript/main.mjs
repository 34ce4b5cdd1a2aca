// snippet
import { OFREPProvider } from '@openfeature/ofrep-provider';
import { OpenFeature } from '@openfeature/server-sdk';

await OpenFeature.setProviderAndWait(
  new OFREPProvider({
    baseUrl: 'http://127.0.0.1:7070/environments/development',
    headers: { 'X-API-Key': process.env.HALYARD_KEY ?? '' },
  }),
);
const flags = OpenFeature.getClient();
const isOn = await flags.getBooleanValue('dark-mode', false, { targetingKey: 'user-1' });
// end of snippet

console.log('dark-mode', isOn);
