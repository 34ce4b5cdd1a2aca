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
import { type ApiAnswer, type ApiClient, apiPath } from './api-client.ts';
import { CliError, usageError } from './cli-error.ts';
import { type CliCommand, command, connect } from './command.ts';
import type { Fields } from './fields.ts';
import { type CONNECTION, NOTE, option, required, toggle, type ValuesOf, WISH } from './options.ts';
import { formatTable, printAnswer, printList, shortTime, wantsJson } from './output.ts';
import { asCalled, type Shell } from './shell.ts';
import { parseDuration, parseFutureTime } from './times.ts';

const PLAN = { project: required('<project>', 'Project of the plan') };

const START = {
  project: required('<project>', 'Project of the flag'),
  env: required('<environment>', 'Environment to roll out in'),
  plan: required(
    '<plan>',
    `${Object.keys(ROLLOUT_PRESETS).join(', ')}, or percentages with the waits or times between them`,
  ),
  anyway: toggle('Start it even if a change of the flag is scheduled there, which will pause the plan'),
  note: NOTE,
  ...WISH,
};

const LIST = {
  project: required('<project>', 'Project to list'),
  env: option('<environment>', 'List this environment only'),
  flag: option('<key>', 'List the plans of this flag only'),
  all: toggle('Include plans that are done or stopped'),
};

type Connected<Options> = ValuesOf<Options & typeof CONNECTION>;

/** Commands on one plan: name, description, and the verb that reports success. */
const ACTIONS = [
  ['pause', 'Pause a rollout plan: no step runs until it is resumed.', 'Paused'],
  ['resume', 'Resume a paused rollout plan: the wait before its next step starts over.', 'Resumed'],
  ['advance', 'Run the next step of a rollout plan now.', 'Advanced'],
  ['stop', 'Stop a rollout plan for good. The flag stays as it is.', 'Stopped'],
] as const;

/** `halyard rollout start|list|show|pause|resume|advance|stop` */
export const rolloutCommands: readonly CliCommand[] = [
  command({
    usage: 'start <key>',
    about: 'Roll a flag out in steps in one environment.',
    options: START,
    help: ['Plans:', ...Object.entries(ROLLOUT_PRESETS).map(presetLine)].join('\n'),
    examples: [
      'halyard rollout start new-checkout --project shop --env production --plan usual',
      'halyard rollout start new-checkout --project shop --env production --plan "5, 24h, 25, 24h, 100"',
      'halyard rollout start new-checkout --project shop --env staging --plan "10, 2027-01-31T09:00:00Z, 100"',
    ],
    run: startPlan,
  }),
  command({
    usage: 'list',
    about: 'List the rollout plans of a project, the next step first.',
    options: LIST,
    run: listPlans,
  }),
  command({
    usage: 'show <id>',
    about: 'Show a rollout plan with its steps.',
    options: PLAN,
    run: async (input, shell) => {
      const client = connect(shell, input);
      await printPlan(shell, input, { client, answer: await client.request({ path: pathOf(input) }) });
    },
  }),
  ...ACTIONS.map(([name, about, done]) =>
    command({
      usage: `${name} <id>`,
      about,
      // What ends a plan changes no flag.
      options: { ...PLAN, note: NOTE, ...(name === 'resume' || name === 'advance' ? WISH : {}) },
      help: 'Run "halyard rollout list" to see the ids.',
      run: async ({ note, ...input }, shell) => {
        const client = connect(shell, input);
        const answer = await client.request({ method: 'POST', path: `${pathOf(input)}/${name}`, note });
        await printPlan(shell, input, { client, answer, title: `${done} plan ${input.id}.\n` });
      },
    }),
  ),
];

function presetLine([name, steps]: readonly [string, readonly RolloutPlanStep[]]): string {
  return `  ${name.padEnd(9)}${planText(steps)}`;
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

function pathOf({ project, id }: { readonly project: string; readonly id: string }): string {
  return apiPath`/projects/${project}/rollouts/${id}`;
}

async function startPlan(
  input: Connected<typeof START> & { readonly key: string },
  shell: Shell,
): Promise<void> {
  const { key: flag, project, env: environment, plan, note, anyway } = input;
  const steps = isPreset(plan) ? ROLLOUT_PRESETS[plan] : readPlan(plan, shell.now());
  const path = apiPath`/projects/${project}/rollouts`;
  const body = { flag, environment, steps, note, anyway };

  const client = connect(shell, input);
  const answer = await client.request({ method: 'POST', path, body, note });
  await printPlan(shell, input, { client, answer, title: `Started plan ${answer.fields.text('id')}.\n` });
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

async function listPlans(options: Connected<typeof LIST>, shell: Shell): Promise<void> {
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
  options: Connected<typeof PLAN>,
  { client, answer, title = '' }: { client: ApiClient; answer: ApiAnswer; title?: string },
): Promise<void> {
  const isText = !wantsJson(shell, options);
  const reachPct = isText ? await reachOfPaused(client, options.project, answer.fields) : undefined;
  printAnswer(
    shell,
    options,
    answer,
    (plan) => title + asCalled(shell, describePlan(plan, options.project, reachPct)),
  );
}

function describePlan(plan: Fields, project: string, reachPct: number | undefined): string {
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
