// snippet
import { createClient } from '@halyard/client';
import { FlagsProvider, useFlag } from '@halyard/client/react';
import { createRoot } from 'react-dom/client';

const client = createClient({ apiKey: false, environment: 'development', baseUrl: '/flags' });

function Feature() {
  const isOn = useFlag('dark-mode', { targetingKey: 'user-1' });
  return <p>dark-mode is {isOn ? 'on' : 'off'}</p>;
}

createRoot(document.getElementById('root')).render(
  <FlagsProvider client={client}>
    <Feature />
  </FlagsProvider>,
);
// end of snippet
