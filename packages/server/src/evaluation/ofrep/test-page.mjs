/** A page that shows one flag, as the published OFREP provider for browsers sees it. `settings` comes from the page. */
import { OFREPWebProvider } from '@openfeature/ofrep-web-provider';
import { OpenFeature } from '@openfeature/web-sdk';

const { baseUrl, key } = globalThis.settings;
const provider = new OFREPWebProvider({ baseUrl, headers: [['Authorization', `Bearer ${key}`]] });
await OpenFeature.setContext({ targetingKey: 'ana' });
await OpenFeature.setProviderAndWait(provider);
const client = OpenFeature.getClient();
const show = () => {
  document.querySelector('#flag').textContent = client.getStringValue('banner', 'none');
};
client.addHandler('PROVIDER_CONFIGURATION_CHANGED', show);
show();
