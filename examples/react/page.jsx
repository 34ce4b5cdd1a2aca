// snippet
import { createClient } from '@halyard/client';
import { FlagsProvider, useFlag } from '@halyard/client/react';
// end of snippet
import { createRoot } from 'react-dom/client';

// snippet
// Your server answers /flags with createFlagsHandler, and keeps the key.
const client = createClient({ apiKey: false, environment: 'development', baseUrl: '/flags' });

function Feature() {
  const isOn = useFlag('dark-mode', { targetingKey: 'user-1' });
  return <p>dark-mode is {isOn ? 'on' : 'off'}</p>;
}

export function App() {
  return (
    <FlagsProvider client={client}>
      <Feature />
    </FlagsProvider>
  );
}
// end of snippet

createRoot(document.getElementById('root')).render(<App />);
