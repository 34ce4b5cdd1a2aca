'use client';

import { createClient } from '@halyard/client';
import { FlagsProvider } from '@halyard/client/react';
import { useState } from 'react';

let pageClient;

/** On the server a client for one rendering; in the page one for its life, which starts from the same flags. */
function clientFor(bootstrap) {
  const options = { apiKey: false, environment: bootstrap.environment, bootstrap };
  if (typeof window === 'undefined') return createClient({ ...options, mode: 'manual' });
  pageClient ??= createClient({ ...options, baseUrl: '/flags' });
  return pageClient;
}

export function PageFlags({ bootstrap, children }) {
  const [client] = useState(() => clientFor(bootstrap));
  // As a property, so that reads follow when the server renders for someone else.
  return (
    <FlagsProvider client={client} targetingKey={bootstrap.targetingKey}>
      {children}
    </FlagsProvider>
  );
}
