import {
  defined,
  nextPlanStep,
  noStepLeft,
  type PlanProgress,
  planSteps,
  ROLLOUT_PRESETS,
  type RolloutPlanStep,
  type RolloutPreset,
  reachOf,
} from '@halyard/protocol';
import type { Command } from 'commander';
import { type ApiAnswer, type ApiClient, apiPath } from './api-client.ts';
import { CliError, usageError } from './cli-error.ts';
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
import { formatTable, printAnswer, printList, shortTime, wantsJson } from './output.ts';
import { asCalled, type Shell } from './shell.ts';

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
    const client = connect(shell, options);
    await printPlan(shell, options, { client, answer: await client.request({ path: pathOf(id, options) }) });
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
      const client = connect(shell, options);
      const answer = await client.request({ method: 'POST', path, headers });
      await printPlan(shell, options, { client, answer, title: `${done} plan ${id}.\n` });
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
  const client = connect(shell, options);
  const answer = await client.request({ method: 'POST', path, body });
  await printPlan(shell, options, { client, answer, title: `Started plan ${answer.fields.text('id')}.\n` });
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
  const client = connect(shell, options);
  const answer = await client.request({ path, query });
  const reaches = new Map<string, number | undefined>();
  if (!wantsJson(shell, options)) {
    for (const plan of answer.fields.list('rollouts'))
      reaches.set(plan.text('id'), await reachOfPaused(client, project, plan));
  }
  await printList(shell, options, [answer], {
    member: 'rollouts',
    headings: ['ID', 'FLAG', 'ENVIRONMENT', 'STEPS', 'NEXT', 'BY', 'STATUS', 'NOTE'],
    row: (plan) => [
      plan.text('id'),
      plan.text('flag'),
      plan.optionalText('environment') ?? '-',
      shortSteps(stepsOf(plan, reaches.get(plan.text('id')))),
      shortTime(plan.optionalText('dueAt')),
      plan.text('createdBy'),
      plan.text('status'),
      plan.optionalText('reason') ?? plan.optionalText('note') ?? '',
    ],
    empty: `No ${all ? '' : 'open '}rollout plans in ${project}. Start one with "halyard rollout start <key> --project ${project} --env <environment> --plan usual"${all ? '' : ', or add --all to see those that ended'}.`,
  });
}

/** `5` for a step that ran, `(25)` for one that is ahead; one that is skipped is left out. */
function shortSteps(steps: readonly PlanProgress[]): string {
  return steps
    .filter(({ status }) => status !== 'skipped')
    .map(({ rolloutPct, status }) => (status === 'done' ? rolloutPct : `(${rolloutPct})`))
    .join(' ');
}

/** The percentage that the flag of a paused plan is on for: anything may have changed it. `undefined` for other plans. */
async function reachOfPaused(client: ApiClient, project: string, plan: Fields): Promise<number | undefined> {
  const environment = plan.optionalText('environment');
  if (plan.text('status') !== 'paused' || environment === undefined) return undefined;
  const path = apiPath`/projects/${project}/environments/${environment}/flags/${plan.text('flag')}`;
  try {
    const state = (await client.request({ path })).fields.fields('state');
    const [enabled, share] = [state.boolean('enabled'), state.any('rolloutPct')];
    return reachOf({ enabled, ...(typeof share === 'number' ? { rolloutPct: share } : {}) });
  } catch (error) {
    if (error instanceof CliError && error.code === 'flag_not_found') return 0;
    throw error;
  }
}

/** The steps of a plan, as a plan shows them whose flag is on for `reachPct`; as the API returns them without it. */
function stepsOf(plan: Fields, reachPct: number | undefined): readonly PlanProgress[] {
  const steps = plan.list('steps').map((step) => ({
    rolloutPct: step.number('rolloutPct'),
    status: readStatus(step.text('status')),
    ...defined({ ranAt: step.optionalText('ranAt'), expectedAt: step.optionalText('expectedAt') }),
  }));
  return reachPct === undefined ? steps : planSteps(steps, reachPct);
}

function readStatus(text: string): PlanProgress['status'] {
  const known = (['done', 'skipped', 'next', 'waiting'] as const).find((status) => status === text);
  if (known === undefined) throw new CliError(`The server names an unknown status of a step: "${text}".`);
  return known;
}

/** Writes a plan, with `title` above it. */
async function printPlan(
  shell: Shell,
  options: PlanOptions,
  { client, answer, title = '' }: { client: ApiClient; answer: ApiAnswer; title?: string },
): Promise<void> {
  const isText = !wantsJson(shell, options);
  const reachPct = isText ? await reachOfPaused(client, options.project, answer.fields) : undefined;
  printAnswer(
    shell,
    options,
    answer,
    (plan) => title + asCalled(shell, describePlan(plan, options, reachPct)),
  );
}

function describePlan(plan: Fields, { project }: PlanOptions, reachPct: number | undefined): string {
  const environment = plan.optionalText('environment') ?? 'a deleted environment';
  const reason = plan.optionalText('reason');
  const steps = stepsOf(plan, reachPct);
  const rows = steps.map(({ rolloutPct, status, ranAt, expectedAt }, index) => [
    String(index + 1),
    `${rolloutPct} %`,
    status,
    shortTime(ranAt ?? expectedAt),
  ]);
  return [
    `${plan.text('flag')} in ${environment}: ${plan.text('status')}`,
    reason === undefined ? '' : `, ${plan.text('statusBy')}: ${reason}`,
    '\n',
    reachPct === undefined
      ? ''
      : `${hintOfPaused(steps, reachPct, `${plan.text('id')} --project ${project}`)}\n`,
    formatTable(['STEP', 'ROLLOUT', 'STATUS', 'TIME'], rows),
  ].join('');
}

function hintOfPaused(steps: readonly PlanProgress[], reachPct: number, which: string): string {
  if (nextPlanStep(steps, reachPct) === undefined) return noStepLeft(reachPct);
  return `Resume it with "halyard rollout resume ${which}".`;
}
