// snippet
import { OFREPWebProvider } from '@openfeature/ofrep-web-provider';
import { OpenFeature } from '@openfeature/web-sdk';

// Your server answers /flags with createFlagsHandler, and keeps the key.
const baseUrl = `${location.origin}/flags/environments/development`;
await OpenFeature.setContext({ targetingKey: 'user-1' });
await OpenFeature.setProviderAndWait(new OFREPWebProvider({ baseUrl }));
const flags = OpenFeature.getClient();
const isOn = flags.getBooleanValue('dark-mode', false);
// end of snippet

function show(isDark) {
  document.getElementById('feature').textContent = `dark-mode is ${isDark ? 'on' : 'off'}`;
}

show(isOn);
flags.addHandler('PROVIDER_CONFIGURATION_CHANGED', () => show(flags.getBooleanValue('dark-mode', false)));
