import { apiPath } from './api-client.ts';
import { effectsTable } from './change.ts';
import { type CliCommand, command } from './command.ts';
import type { Fields } from './fields.ts';
import { NOTE, required, toggle } from './options.ts';
import { shortTime } from './output.ts';

const PROJECT = { project: required('<project>', 'Project of the proposal') };

/** `halyard proposal list|show|apply|withdraw` */
export const proposalCommands: readonly CliCommand[] = [
  command({
    usage: 'list',
    about: 'List the proposals of a project that wait for a decision, the oldest first.',
    options: { ...PROJECT, all: toggle('Include proposals that have ended') },
    help: 'A change is proposed by the command that makes it, with --propose. People approve in the dashboard.',
    request: ({ project, all }) => ({
      path: apiPath`/projects/${project}/proposals`,
      query: { status: all ? undefined : 'waiting' },
    }),
    list: {
      member: 'proposals',
      headings: ['ID', 'PROPOSED', 'ENVIRONMENTS', 'CHANGE', 'BY', 'STATUS', 'APPROVALS', 'NOTE'],
      row: (item) => [
        item.text('id'),
        shortTime(item.text('createdAt')),
        item.texts('environments').join(', '),
        summaryOf(item.list('effects')),
        item.text('author'),
        item.text('status'),
        `${item.list('approvals').length} of ${item.number('required')}`,
        item.optionalText('outcome') ?? item.optionalText('note') ?? '',
      ],
      empty: ({ project }) => `No proposals in ${project}. Propose a change with --propose.`,
    },
  }),
  command({
    usage: 'show <id>',
    about: 'Show what a proposal changes, and who has approved it.',
    options: PROJECT,
    request: (which) => ({ path: pathOf(which) }),
    answer: describeProposal,
  }),
  command({
    usage: 'apply <id>',
    about: 'Make the change of a proposal that was approved and held.',
    options: { ...PROJECT, note: NOTE },
    request: ({ note, ...which }) => ({ method: 'POST', path: `${pathOf(which)}/apply`, note }),
    answer: (fields, { id }) => `Applied proposal ${id} (change ${fields.number('seq')}).\n`,
  }),
  command({
    usage: 'withdraw <id>',
    about: 'Withdraw a proposal.',
    options: { ...PROJECT, note: NOTE },
    request: ({ note, ...which }) => ({ method: 'POST', path: `${pathOf(which)}/withdraw`, note }),
    done: ({ id }) => `Withdrew proposal ${id}.`,
  }),
];

function pathOf({ project, id }: { readonly project: string; readonly id: string }): string {
  return apiPath`/projects/${project}/proposals/${id}`;
}

/** The first record that changes, and how many more. */
function summaryOf(effects: readonly Fields[]): string {
  const [first] = effects;
  if (first === undefined) return '-';
  const more = effects.length === 1 ? '' : ` and ${effects.length - 1} more`;
  return `${first.text('action')} ${first.text('target')}${more}`;
}

function describeProposal(fields: Fields): string {
  const note = fields.optionalText('note');
  const outcome = fields.optionalText('outcome');
  const approvals = fields
    .list('approvals')
    .map((each) => `${each.text('by')}, ${shortTime(each.text('at'))}`);
  return [
    `Proposal ${fields.text('id')} of ${fields.text('author')}, ${shortTime(fields.text('createdAt'))}: ${fields.text('status')}`,
    ...(note === undefined ? [] : [note]),
    ...(outcome === undefined ? [] : [outcome]),
    ...approvals.map((line) => `Approved by ${line}`),
    effectsTable(fields.list('effects')),
  ].join('\n');
}
