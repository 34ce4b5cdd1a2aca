import type { Catalog } from './command.ts';

/** All commands by name, in the order of the help. */
export const COMMANDS: Catalog = {
  serve: {
    summary: 'Start a node: the flag service with its management API',
    load: async () => (await import('./serve.ts')).serveCommand,
  },
  relay: {
    summary: 'Start a relay: a node without a database that follows another node',
    load: async () => (await import('./relay.ts')).relayCommand,
  },
  project: {
    summary: 'Create, list, change and delete projects',
    load: async () => (await import('./project.ts')).projectCommands,
  },
  environment: {
    summary: 'Create, list, change and delete environments of a project',
    load: async () => (await import('./environment.ts')).environmentCommands,
  },
  flag: {
    summary: 'Create, change, list, archive and delete flags',
    load: async () => (await import('./flag.ts')).flagCommands,
  },
  schedule: {
    summary: 'Create, list and cancel scheduled changes of flags',
    load: async () => (await import('./schedule.ts')).scheduleCommands,
  },
  rollout: {
    summary: 'Start, list, pause, resume and stop rollout plans, which roll flags out in steps',
    load: async () => (await import('./rollout.ts')).rolloutCommands,
  },
  proposal: {
    summary: 'List, show, apply and withdraw proposals: changes that wait for approval',
    load: async () => (await import('./proposal.ts')).proposalCommands,
  },
  copy: {
    summary: 'Copy flag states from one environment to another',
    load: async () => (await import('./copy.ts')).copyCommand,
  },
  key: {
    summary: 'Create, list and revoke project keys, which let applications read flags',
    load: async () => (await import('./key.ts')).keyCommands,
  },
  webhook: {
    summary: 'Send the changes of a project to other systems',
    load: async () => (await import('./webhook.ts')).webhookCommands,
  },
  login: {
    summary: 'Log in to a server: store its address and an access token as a profile',
    load: async () => (await import('./login.ts')).loginCommand,
  },
  logout: {
    summary: 'Forget a profile and its token',
    load: async () => (await import('./login.ts')).logoutCommand,
  },
  profile: {
    summary: 'List profiles, or set the current one',
    load: async () => (await import('./login.ts')).profileCommands,
  },
  watch: {
    summary: 'Watch the changes of an environment as they happen',
    load: async () => (await import('./watch.ts')).watchCommand,
  },
  export: {
    summary: 'Export a project as one document',
    load: async () => (await import('./documents.ts')).exportCommand,
  },
  diff: {
    summary: 'Show how such a document differs from the project',
    load: async () => (await import('./documents.ts')).diffCommand,
  },
  import: {
    summary: 'Import a project from such a document',
    load: async () => (await import('./documents.ts')).importCommand,
  },
  convert: {
    summary: 'Convert flags of another service into such a document',
    load: async () => (await import('./convert.ts')).convertCommand,
  },
  backup: {
    summary: 'Back up the database of an installation, while its nodes run',
    load: async () => (await import('./backup.ts')).backupCommand,
  },
  restore: {
    summary: 'Restore a backup, into either engine',
    load: async () => (await import('./backup.ts')).restoreCommand,
  },
  types: {
    summary: 'Write the flags of a project as TypeScript declarations',
    load: async () => (await import('./types.ts')).typesCommand,
  },
  refs: {
    summary: 'Find where a code base uses the flags of a project',
    load: async () => (await import('./refs.ts')).refsCommand,
  },
  audit: {
    summary: 'List changes, newest first: who changed what, and when',
    load: async () => (await import('./audit.ts')).auditCommand,
  },
  clients: {
    summary: 'Show which keys hold open streams',
    load: async () => (await import('./clients.ts')).clientsCommand,
  },
  delivery: {
    summary: 'Show how many streams received a change',
    load: async () => (await import('./change.ts')).deliveryCommand,
  },
  change: {
    summary: 'Show or revert a change',
    about: 'Show or revert a change. Run "halyard audit" to see the numbers of changes.',
    load: async () => (await import('./change.ts')).changeCommands,
  },
  token: {
    summary: 'Create, list and revoke access tokens, which let people and pipelines manage flags',
    load: async () => (await import('./token.ts')).tokenCommands,
  },
  'relay-token': {
    summary: 'Create, list and revoke relay tokens, with which relays follow this server',
    load: async () => (await import('./relay-token.ts')).relayTokenCommands,
  },
  operator: {
    summary: 'Invite, list, change and remove operators, who sign in to the dashboard',
    about: 'Invite, list, change and remove operators: the people who sign in to the dashboard.',
    load: async () => (await import('./operator.ts')).operatorCommands,
  },
  invitation: {
    summary: 'List and revoke open invitations',
    about: 'List and revoke open one-time links: invitations and links to set a password.',
    load: async () => (await import('./operator.ts')).invitationCommands,
  },
  mcp: {
    summary: 'Let an agent read and change flags, over the Model Context Protocol',
    load: async () => (await import('./mcp.ts')).mcpCommand,
  },
  doctor: {
    summary: 'Diagnose the connection to the server',
    load: async () => (await import('./doctor.ts')).doctorCommand,
  },
  errors: {
    summary: 'List the error codes of the API, or explain one',
    load: async () => (await import('./reference.ts')).errorsCommand,
  },
  openapi: {
    summary: 'Print the OpenAPI document of the server',
    load: async () => (await import('./reference.ts')).openapiCommand,
  },
  completion: {
    summary: 'Print the script that completes commands, options, projects and flags in your shell',
    load: async () => (await import('./completion.ts')).completionCommand,
  },
  man: {
    summary: 'Print the manual page of this program',
    load: async () => (await import('./man.ts')).manCommand(COMMANDS),
  },
  complete: {
    summary: 'Print what can follow on a command line, for the scripts of "halyard completion"',
    load: async () => (await import('./completion.ts')).completeCommand(COMMANDS),
    isInternal: true,
  },
  worker: {
    summary: 'Serve reads for "halyard serve --workers", which starts this command itself',
    load: async () => (await import('./serve-worker.ts')).workerCommand,
    isInternal: true,
  },
  version: {
    summary: 'Print the version of this program',
    load: async () => (await import('./reference.ts')).versionCommand,
  },
};
