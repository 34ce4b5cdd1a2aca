import type { Command } from 'commander';
import { apiPath } from './api-client.ts';
import { addConnectionOptions, type CommandOptions, connect } from './connection-options.ts';
import type { Fields } from './fields.ts';
import { printAnswer } from './output.ts';
import type { Shell } from './shell.ts';
import { formatTable } from './table.ts';

/** `halyard delivery` */
export function defineDelivery(program: Command, shell: Shell): void {
  addConnectionOptions(
    program
      .command('delivery <seq>')
      .description('Show how many of the open streams have taken a change, and how soon.')
      .addHelpText(
        'after',
        '\nEvery write answers with its "seq", and "halyard audit" lists them. A stream that has taken the change has it ' +
          'on its connection;\nwhether the program behind it has read it, nobody knows but that program.',
      ),
  ).action(async (seq: string, options: CommandOptions) => {
    const answer = await connect(shell, options).request({ path: apiPath`/changes/${seq}/delivery` });
    printAnswer(shell, options, answer, describe);
  });
}

function describe(delivery: Fields): string {
  const place = `${delivery.text('environment')} of ${delivery.text('project')}`;
  const slowest = `slowest ${delivery.number('slowestMs')} ms`;
  const seen = `seen by ${delivery.number('seen')} of ${delivery.number('streams')} streams, ${slowest}`;
  const head = `Revision ${delivery.number('revision')} of ${place}: ${seen}.\n`;
  const rows = delivery
    .list('nodes')
    .map((node) => [
      node.text('node'),
      `${node.number('streams')}`,
      `${node.number('seen')}`,
      `${node.number('slowestMs')} ms`,
    ]);
  return head + formatTable(['NODE', 'STREAMS', 'SEEN', 'SLOWEST'], rows);
}
