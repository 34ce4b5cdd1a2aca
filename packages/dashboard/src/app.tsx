import { QueryClientProvider, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { Router } from 'wouter';
import { createQueryClient, queryKeys } from './api/query-cache.ts';
import { readAhead } from './api/read-ahead.ts';
import { onSignedOut } from './api/request.ts';
import { leaveCarefully } from './browser/leave-guard.ts';
import { LostAnswerWatch } from './changes/lost-answer-watch.tsx';
import { ConfirmProvider } from './components/confirm.tsx';
import { LiveRegion } from './components/live-region.tsx';
import { Routes } from './routes.tsx';

/** The whole dashboard. */
export function App() {
  const [queries] = useState(() => {
    const client = createQueryClient();
    readAhead(client);
    return client;
  });
  return (
    <QueryClientProvider client={queries}>
      <ConfirmProvider>
        <SessionWatch />
        <LostAnswerWatch />
        <Router aroundNav={leaveCarefully}>
          <Routes />
        </Router>
      </ConfirmProvider>
      <LiveRegion />
    </QueryClientProvider>
  );
}

/** Any response may show that the session has ended: reads the session again, and the routes ask to sign in. */
function SessionWatch() {
  const queries = useQueryClient();
  useEffect(
    () => onSignedOut(() => void queries.invalidateQueries({ queryKey: queryKeys.session })),
    [queries],
  );
  return null;
}
