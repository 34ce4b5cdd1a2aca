import { apiPath } from './api-client.ts';
import { command, connect, type Input } from './command.ts';
import { describeState } from './flag-state.ts';
import { NOTE, required, toggle, WISH } from './options.ts';
import { formatTable, printAnswer } from './output.ts';

const OPTIONS = {
  project: required('<project>', 'Project of the flags'),
  from: required('<environment>', 'Environment to copy from'),
  to: required('<environment>', 'Environment to copy to'),
  delete: toggle('Delete flags from the target that the source does not have'),
  dryRun: toggle('Show the differences without copying'),
  note: NOTE,
  ...WISH,
};

/** `halyard copy` */
export const copyCommand = command({
  usage: 'copy [keys...]',
  about: 'Copy flag states from one environment to another, as one change. Copies all flags by default.',
  options: OPTIONS,
  examples: [
    'halyard copy --project shop --from staging --to production --dry-run',
    'halyard copy new-checkout --project shop --from staging --to production --note "tested"',
  ],
  run: async (input, shell) => {
    const { keys, project, from, to, dryRun, note } = input;
    const client = connect(shell, input);
    // The server treats an unknown key as one without anything to copy; on a command line it is a typo.
    for (const key of keys) await client.request({ path: apiPath`/projects/${project}/flags/${key}` });

    const answer = await client.request({
      method: 'POST',
      path: apiPath`/projects/${project}/environments/${to}/copy`,
      query: { dryRun: dryRun ? 'true' : undefined },
      body: {
        from,
        deletes: input.delete === true,
        keys: keys.length === 0 ? undefined : keys,
      },
      note,
    });

    printAnswer(shell, input, answer, (fields) => {
      const differences = fields.list('differences');
      if (differences.length === 0) return alreadySame(input);
      const rows = differences.map((one) => [
        one.text('key'),
        describeState(one.any('before')),
        describeState(one.any('after')),
      ]);
      const last = dryRun
        ? 'Dry run: nothing was copied.'
        : `Copied from ${from} to ${to} of ${project} (revision ${fields.number('revision')}).`;
      return `${formatTable(['FLAG', `${to.toUpperCase()} NOW`, 'AFTER'], rows)}${last}\n`;
    });
  },
});

function alreadySame({ keys, from, to, delete: deletes }: Input<'copy [keys...]', typeof OPTIONS>): string {
  const list = new Intl.ListFormat('en').format(keys);
  if (keys.length > 0)
    return `${list} ${keys.length === 1 ? 'is' : 'are'} already the same in ${from} and ${to}.\n`;
  // Without --delete the target may have flags that the source does not have.
  return deletes
    ? `${from} and ${to} are already the same.\n`
    : `${to} already has everything that ${from} has.\n`;
}
