import { resolveConnection } from '../config/connection.ts';
import { ApiClient } from './api-client.ts';
import { localCommand } from './command.ts';
import { CONNECTION, namesIn, option, toggle } from './options.ts';

/** `halyard mcp` */
export const mcpCommand = localCommand({
  usage: 'mcp',
  about:
    'Let an agent read and change flags: a server of the Model Context Protocol on standard input and output.',
  options: {
    readOnly: toggle('Offer no tool that changes something'),
    allowProtected: toggle('Let the agent change protected environments, if its token may'),
    project: option('<projects>', 'Show these projects only, separated by commas'),
    env: option('<environments>', 'Show these environments only, separated by commas'),
    url: CONNECTION.url,
    token: CONNECTION.token,
    data: CONNECTION.data,
    profile: CONNECTION.profile,
  },
  help:
    'A host such as an editor starts this command. The agent acts with the access token, and only within its rights. Changes\n' +
    'of environments that require approvals become proposals. See "How do I let an agent manage flags?" in the documentation.',
  examples: [
    'halyard token create --name agent --project shop --only plan',
    'halyard mcp --read-only --project shop',
    'halyard mcp --project shop --env development,staging',
  ],
  run: async ({ readOnly, allowProtected, project, env, ...flags }, shell) => {
    const [{ openSession }, { createMcpServer }, { serveStdio }] = await Promise.all([
      import('./mcp/session.ts'),
      import('./mcp/server.ts'),
      import('@modelcontextprotocol/server/stdio'),
    ]);
    const warn = (sentence: string) => shell.writeError(`warning: ${sentence}\n`);
    const report = (error: unknown) =>
      shell.writeError(`error: ${error instanceof Error ? error.stack : error}\n`);
    // What a person has logged in to with their own rights is not for an agent, unless they say so.
    const connection = resolveConnection(flags, shell.env, 'named');

    const session = await openSession({
      mayWrite: readOnly !== true,
      allowProtected: allowProtected === true,
      ...(project !== undefined && { projects: namesIn(project) }),
      ...(env !== undefined && { environments: namesIn(env) }),
      connect: (wish) => new ApiClient(connection, warn, wish),
      now: () => shell.now(),
      report,
    });

    // Standard output is the protocol: what a library prints must not stand between its messages.
    const print = (...texts: unknown[]) => shell.writeError(`${texts.join(' ')}\n`);
    Object.assign(globalThis.console, { log: print, info: print, debug: print });
    const ended = Promise.withResolvers<void>();
    process.stdin.once('close', ended.resolve);
    const server = serveStdio(() => createMcpServer(session), { onerror: report });
    await ended.promise;
    await server.close();
  },
});
