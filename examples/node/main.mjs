// snippet
import { createClient } from '@halyard/client';

const flags = createClient({
  apiKey: process.env.HALYARD_KEY ?? '',
  environment: 'development',
  baseUrl: 'http://127.0.0.1:7070',
});
await flags.ready();
const isOn = flags.isEnabled('dark-mode', { targetingKey: 'user-1' });
// end of snippet

console.log('dark-mode', isOn);
await flags.close();
