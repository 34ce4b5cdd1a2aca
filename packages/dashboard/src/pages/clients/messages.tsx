import type { ReactNode } from 'react';

const ms = (time: number) => (time < 1 ? '< 1 ms' : `${Math.round(time)} ms`);

/** The texts of the screen "Clients". */
export const messages = {
  title: 'Clients',
  intro: 'Live connections by environment and key, across all nodes.',

  // The streams of an environment
  streams: (count: number) => (count === 1 ? 'stream' : 'streams'),
  nodes: (count: number) => (count === 1 ? '1 node' : `${count} nodes`),
  onNodes: (nodes: string) => ` on ${nodes}`,
  noKeys: 'No key can read this environment.',
  idle: (count: number) => (count === 1 ? '1 key is not connected' : `${count} keys are not connected`),
  idleKeysOf: (environment: string) => `Keys of ${environment} that are not connected`,
  keysOf: (environment: string) => `Keys of ${environment}`,
  lastUsed: ', last used ',
  used: 'last used',
  neverUsed: 'never used',

  // The first client
  firstClient: 'A client is connected.',
  firstClientHint: 'Flip a flag and watch it arrive.',
  firstClientAnnounced: 'Your first client is connected',
  connectTitle: 'Connect your first client',
  connect: (toKeys: (text: string) => ReactNode, toClient: (text: string) => ReactNode) => (
    <>
      Take a key from the {toKeys('keys screen')} and run one of these. The program needs{' '}
      {toClient('@halyard/client')}. This screen updates when it connects.
    </>
  ),
  inTerminal: 'In a terminal',
  terminalLabel: 'Command that opens a stream',
  inProgram: 'In a program',
  programLabel: 'Program that reads a flag',

  // Recent deliveries
  deliveries: 'Recent deliveries',
  deliveriesIntro: 'Time from commit to the slowest client.',
  noDeliveries: (areConnected: boolean) =>
    areConnected
      ? 'No deliveries yet. Change a flag and watch it arrive.'
      : 'No deliveries yet. Connect a client and change a flag.',
  showFewer: 'Show fewer',
  showAll: (count: number) => `Show all ${count}`,
  ms,
  median: 'median',
  p95: 'p95',
  slowest: 'slowest',
  histogram: (count: number) => `The last ${count} changes by delivery time`,
  under: (bound: number) => `under ${bound} ms`,
  between: (from: number, to: number) => `${from} to ${to} ms`,
  over: 'over 1 s',

  table: 'Changes and their delivery',
  columns: [
    { label: 'Change' },
    { label: 'Environment' },
    { label: 'Seen by' },
    { label: 'Slowest' },
    { label: 'When' },
  ],
  seen: (seen: number, streams: number) => `${seen} of ${streams}`,
  seenByAll: 'all of them',
  notSeenByAll: 'not all of them',
  notSeen: '–',
} as const;
