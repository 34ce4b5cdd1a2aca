import { ROLLOUT_PRESETS, type RolloutPlanStep, type RolloutPreset } from '@halyard/protocol';
import type { Command } from 'commander';
import { apiPath } from './api-client.ts';
import { usageError } from './cli-error.ts';
import type { Fields } from './fields.ts';
import {
  addConnectionOptions,
  type CommandOptions,
  connect,
  NOTE_HELP,
  noteHeader,
  parseDuration,
  parseFutureTime,
} from './options.ts';
import { formatTable, printAnswer, printList, shortTime } from './output.ts';
import type { Shell } from './shell.ts';

interface StartOptions extends CommandOptions {
  readonly project: string;
  readonly env: string;
  readonly plan: string;
  readonly anyway?: boolean;
  readonly note?: string;
}

interface ListOptions extends CommandOptions {
  readonly project: string;
  readonly env?: string;
  readonly flag?: string;
  readonly all?: boolean;
}

interface PlanOptions extends CommandOptions {
  readonly project: string;
  readonly note?: string;
}

const PROJECT_HELP = 'Project of the plan';

/** Commands on one plan: name, description, and the verb that reports success. */
const ACTIONS = [
  ['pause', 'Pause a rollout plan: no step runs until it is resumed.', 'Paused'],
  ['resume', 'Resume a paused rollout plan: the wait before its next step starts over.', 'Resumed'],
  ['advance', 'Run the next step of a rollout plan now.', 'Advanced'],
  ['stop', 'Stop a rollout plan for good. The flag stays as it is.', 'Stopped'],
] as const;

/** `halyard rollout start|list|show|pause|resume|advance|stop` */
export function defineRollout(rollout: Command, shell: Shell): void {
  addConnectionOptions(
    rollout
      .command('start <key>')
      .description('Roll a flag out in steps in one environment.')
      .requiredOption('--project <project>', 'Project of the flag')
      .requiredOption('--env <environment>', 'Environment to roll out in')
      .requiredOption(
        '--plan <plan>',
        `${Object.keys(ROLLOUT_PRESETS).join(', ')}, or percentages with the waits or times between them`,
      )
      .option(
        '--anyway',
        'Start it even if a change of the flag is scheduled there, which will pause the plan',
      )
      .option('--note <text>', NOTE_HELP)
      .addHelpText('after', startHelp()),
  ).action((key: string, options: StartOptions) => startPlan(shell, key, options));
  addConnectionOptions(
    rollout
      .command('list')
      .description('List the rollout plans of a project, the next step first.')
      .requiredOption('--project <project>', 'Project to list')
      .option('--env <environment>', 'List this environment only')
      .option('--flag <key>', 'List the plans of this flag only')
      .option('--all', 'Include plans that are done or stopped'),
  ).action((options: ListOptions) => listPlans(shell, options));
  addConnectionOptions(
    rollout
      .command('show <id>')
      .description('Show a rollout plan with its steps.')
      .requiredOption('--project <project>', PROJECT_HELP),
  ).action(async (id: string, options: PlanOptions) => {
    const answer = await connect(shell, options).request({ path: pathOf(id, options) });
    printAnswer(shell, options, answer, describePlan);
  });
  for (const [name, description, done] of ACTIONS) {
    addConnectionOptions(
      rollout
        .command(`${name} <id>`)
        .description(description)
        .requiredOption('--project <project>', PROJECT_HELP)
        .option('--note <text>', NOTE_HELP)
        .addHelpText('after', '\nRun "halyard rollout list" to see the ids.'),
    ).action(async (id: string, options: PlanOptions) => {
      const path = `${pathOf(id, options)}/${name}`;
      const headers = noteHeader(options.note);
      const answer = await connect(shell, options).request({ method: 'POST', path, headers });
      printAnswer(shell, options, answer, (plan) => `${done} plan ${id}.\n${describePlan(plan)}`);
    });
  }
}

function startHelp(): string {
  const presets = Object.entries(ROLLOUT_PRESETS).map(
    ([name, steps]) => `  ${name.padEnd(9)}${planText(steps)}`,
  );
  return `
Plans:
${presets.join('\n')}

Examples:
  halyard rollout start new-checkout --project shop --env production --plan usual
  halyard rollout start new-checkout --project shop --env production --plan "5, 24h, 25, 24h, 100"
  halyard rollout start new-checkout --project shop --env staging --plan "10, 2027-01-31T09:00:00Z, 100"`;
}

/** A plan as `--plan` takes it. */
function planText(steps: readonly RolloutPlanStep[]): string {
  const parts = steps.flatMap(({ rolloutPct, waitMinutes }) => [
    ...(waitMinutes === undefined
      ? []
      : [waitMinutes % 60 === 0 ? `${waitMinutes / 60}h` : `${waitMinutes}m`]),
    String(rolloutPct),
  ]);
  return parts.join(', ');
}

function pathOf(id: string, { project }: PlanOptions): string {
  return apiPath`/projects/${project}/rollouts/${id}`;
}

async function startPlan(shell: Shell, flag: string, options: StartOptions): Promise<void> {
  const { project, env: environment, plan, note, anyway } = options;
  const steps = isPreset(plan) ? ROLLOUT_PRESETS[plan] : readPlan(plan, shell.now());
  const path = apiPath`/projects/${project}/rollouts`;
  const body = JSON.stringify({ flag, environment, steps, note, anyway });
  const answer = await connect(shell, options).request({ method: 'POST', path, body });
  printAnswer(
    shell,
    options,
    answer,
    (started) => `Started plan ${started.text('id')}.\n${describePlan(started)}`,
  );
}

function isPreset(text: string): text is RolloutPreset {
  return Object.hasOwn(ROLLOUT_PRESETS, text);
}

/** Reads percentages with the waits or times between them; the server checks their order and limits. */
function readPlan(text: string, now: number): readonly RolloutPlanStep[] {
  const steps: RolloutPlanStep[] = [];
  let time: Pick<RolloutPlanStep, 'at' | 'waitMinutes'> | undefined;
  for (const part of text.split(',').map((each) => each.trim())) {
    const share = /^(\d+(?:\.\d+)?) ?%?$/.exec(part)?.[1];
    if (share !== undefined) {
      steps.push({ rolloutPct: Number(share), ...time });
      time = undefined;
      continue;
    }
    const durationMs = parseDuration(part);
    const isTime = durationMs !== undefined || /^\d{4}-/.test(part);
    if (!isTime || time !== undefined) throw notAPlan(text, part);
    time =
      durationMs === undefined
        ? { at: parseFutureTime(part, now, '--plan') }
        : { waitMinutes: durationMs / 60_000 };
  }
  if (time !== undefined) throw notAPlan(text, 'its end');
  return steps;
}

function notAPlan(text: string, part: string): Error {
  return usageError(
    `--plan must be ${Object.keys(ROLLOUT_PRESETS).join(', ')}, or percentages with one wait or time between two, ` +
      `such as "5, 24h, 25, 24h, 100", not "${text}" (see ${part === 'its end' ? part : `"${part}"`}).`,
  );
}

async function listPlans(shell: Shell, options: ListOptions): Promise<void> {
  const { project, env: environment, flag, all } = options;
  const path = apiPath`/projects/${project}/rollouts`;
  const query = { environment, flag, status: all ? undefined : 'open' };
  const answer = await connect(shell, options).request({ path, query });
  await printList(shell, options, [answer], {
    member: 'rollouts',
    headings: ['ID', 'FLAG', 'ENVIRONMENT', 'STEPS', 'NEXT', 'BY', 'STATUS', 'NOTE'],
    row: (plan) => [
      plan.text('id'),
      plan.text('flag'),
      plan.optionalText('environment') ?? '-',
      plan.list('steps').map(shortStep).join(' '),
      shortTime(plan.optionalText('dueAt')),
      plan.text('createdBy'),
      plan.text('status'),
      plan.optionalText('reason') ?? plan.optionalText('note') ?? '',
    ],
    empty: `No rollout plans in ${project}. Start one with "halyard rollout start <key> --project ${project} --env <environment> --plan usual".`,
  });
}

/** `5` for a step that ran, `(25)` for the others. */
function shortStep(step: Fields): string {
  const share = String(step.number('rolloutPct'));
  return step.text('status') === 'done' ? share : `(${share})`;
}

function describePlan(plan: Fields): string {
  const environment = plan.optionalText('environment') ?? 'a deleted environment';
  const reason = plan.optionalText('reason');
  const steps = plan
    .list('steps')
    .map((step, index) => [
      String(index + 1),
      `${step.number('rolloutPct')} %`,
      step.text('status'),
      shortTime(step.optionalText('ranAt') ?? step.optionalText('expectedAt')),
    ]);
  return [
    `${plan.text('flag')} in ${environment}: ${plan.text('status')}`,
    reason === undefined ? '' : `, ${plan.text('statusBy')}: ${reason}`,
    '\n',
    formatTable(['STEP', 'ROLLOUT', 'STATUS', 'TIME'], steps),
  ].join('');
}
