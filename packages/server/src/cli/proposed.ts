import { setTimeout as sleep } from 'node:timers/promises';
import { type ApiAnswer, type ApiClient, apiPath } from './api-client.ts';
import { CliError, EXIT } from './cli-error.ts';
import type { Fields } from './fields.ts';
import type { WishOptions } from './options.ts';
import { type OutputOptions, printAnswer } from './output.ts';
import type { Shell } from './shell.ts';

/** How often a proposal is read while a command waits for it, in milliseconds. */
const POLL_MS = 2_000;

/** Says what became of a change that was proposed, and waits for the decision if it was asked to. */
export async function reportProposal(
  shell: Shell,
  options: WishOptions & OutputOptions,
  { client, answer }: { readonly client: ApiClient; readonly answer: ApiAnswer },
): Promise<void> {
  printAnswer(shell, options, answer, describeProposed);
  if (options.wait !== true) return;

  const [project, id] = [answer.fields.text('project'), answer.fields.text('id')];
  shell.writeError('Waiting for the decision. Ctrl+C stops waiting, and the proposal stays open.\n');
  for (;;) {
    const { fields } = await client.request({ path: apiPath`/projects/${project}/proposals/${id}` });
    const status = fields.text('status');
    if (status === 'applied')
      return shell.writeError('The proposal was approved, and the change was made.\n');
    if (status !== 'open' && status !== 'approved') {
      const why = fields.optionalText('outcome') ?? 'Nothing was changed.';
      throw new CliError(`The proposal is ${status}. ${why}`, { exitCode: EXIT.denied });
    }
    await sleep(POLL_MS);
  }
}

function describeProposed(fields: Fields): string {
  const count = fields.list('effects').length;
  const others = fields.number('required') === 1 ? 'another person approves' : 'other people approve';
  return (
    `Proposed ${count === 1 ? '1 change' : `${count} changes`} of ${fields.texts('environments').join(', ')} ` +
    `(proposal ${fields.text('id')}). Nothing is changed yet: ${others} it in the dashboard.\n`
  );
}
