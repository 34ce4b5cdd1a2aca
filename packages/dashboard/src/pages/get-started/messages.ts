/** The texts of the panel "Get started". */
export const messages = {
  title: 'Get started',
  steps: 'Steps',
  dismiss: 'Hide “Get started”',
  done: 'Done',
  left: (steps: number) =>
    steps === 0 ? 'All steps done' : steps === 1 ? '1 step left' : `${steps} steps left`,
  flag: { title: 'Create a flag', hint: 'A switch with a state in each environment.', action: 'New flag…' },
  key: { title: 'Create a key', hint: 'Applications read flags with it.', action: 'New key…' },
  connect: {
    title: 'Connect a client',
    hint: 'Run the command that is shown with a new key.',
    action: 'New key…',
  },
  change: { title: 'Change a flag', hint: 'Turn one on or off below and watch it arrive.' },
  arrived: (streams: number, ms: number) =>
    `Received by ${streams === 1 ? '1 client' : `${streams} clients`} in ${ms < 1 ? 'under 1' : Math.round(ms)} ms.`,
  keyName: 'my-app',
} as const;
