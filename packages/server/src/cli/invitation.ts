import type { Command } from 'commander';
import { apiPath } from './api-client.ts';
import { addConnectionOptions, type CommandOptions, connect } from './connection-options.ts';
import { printDone, printList, shortTime } from './output.ts';
import { permissionText } from './permission-options.ts';
import type { Shell } from './shell.ts';

/** `halyard invitation list|revoke` */
export function defineInvitation(program: Command, shell: Shell): void {
  const invitation = program
    .command('invitation')
    .description('List and revoke one-time links: invitations of operators, and links for a new password.');
  addConnectionOptions(
    invitation.command('list').description('List the links that are still open, newest first.'),
  ).action(async (options: CommandOptions) => {
    const answer = await connect(shell, options).request({ path: apiPath`/invitations` });
    printList(shell, options, answer, {
      member: 'invitations',
      headings: ['ID', 'KIND', 'E-MAIL', 'ROLE', 'BY', 'EXPIRES'],
      row: (item) => [
        item.text('id'),
        item.text('kind'),
        item.optionalText('email') ?? '-',
        permissionText(item.optionalText('role') ?? '-', item.any('canChangeProtected')),
        item.optionalText('createdBy') ?? '-',
        shortTime(item.optionalText('expiresAt')),
      ],
      empty: 'No link is open. Invite someone: halyard operator invite <e-mail>',
    });
  });
  addConnectionOptions(
    invitation
      .command('revoke <id>')
      .description('Revoke a link, named by its id.')
      .addHelpText('after', '\nThe ids are in "halyard invitation list".'),
  ).action(async (id: string, options: CommandOptions) => {
    const path = apiPath`/invitations/${id}`;
    const { text } = await connect(shell, options).request({ method: 'DELETE', path });
    printDone(shell, options, `The link ${id} no longer works.`, text);
  });
}
