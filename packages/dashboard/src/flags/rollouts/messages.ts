import type { ROLLOUT_PRESETS } from '@halyard/protocol';

const share = (percent: number) => `${percent} %`;

/** The texts of rollout plans. */
export const messages = {
  title: 'Rollout plan',
  share,
  statuses: { running: 'running', paused: 'paused', done: 'done', stopped: 'stopped' },
  steps: 'Steps',
  stepStatuses: { done: 'done', skipped: 'skipped', next: 'next', waiting: 'later' },
  nextIs: (percent: number) => `Next: ${share(percent)}`,
  paused: 'Paused by',
  pausedItself: 'Paused',
  stopped: 'Stopped by',
  startedBy: 'Started by',
  resumeHint: 'Resuming restarts the whole wait.',

  nextStep: (percent: number) => `Rollout plan: goes to ${share(percent)}`,

  // The question before a protected environment changes
  stepsOf: (flag: string) => `Steps of the plan of ${flag}`,
  isNow: (state: string) => `now ${state}`,
  reaches: (percent: number) => (percent === 100 ? 'Everyone' : share(percent)),
  now: 'now',

  // Commands
  pause: 'Pause',
  resume: 'Resume',
  advance: (percent: number) => `Go to ${share(percent)} now`,
  stop: 'Stop',
  stopping: (flag: string, environment: string) => ({
    title: 'Stop this rollout plan?',
    body: `${flag} stays as it is in ${environment}. A stopped plan can't be resumed.`,
    action: 'Stop plan',
  }),
  commandDone: { pause: 'Plan paused', resume: 'Plan resumed', advance: 'Step done', stop: 'Plan stopped' },
  commandFailed: {
    pause: 'The plan was not paused',
    resume: 'The plan was not resumed',
    advance: 'The step did not run',
    stop: 'The plan was not stopped',
  },

  // A new plan
  start: 'Roll out in steps…',
  dialog: (flag: string) => `Roll out ${flag} in steps`,
  in: 'in',
  plan: 'Plan',
  turnsOn: ' · The flag is off. The first step turns it on.',
  beginsAbove: (percent: number) => `, on for ${share(percent)} now. The plan begins above that.`,
  presets: {
    careful: 'Careful',
    usual: 'Usual',
    quick: 'Quick',
    own: 'Custom',
  } satisfies Record<keyof typeof ROLLOUT_PRESETS | 'own', string>,
  percentOf: (position: number) => `Percentage of step ${position}`,
  whenOf: (position: number) => `When step ${position} runs`,
  lengthOf: (position: number) => `Wait before step ${position}`,
  timeOf: (position: number) => `Time of step ${position}`,
  whens: {
    now: 'now',
    minutes: 'minutes later',
    hours: 'hours later',
    days: 'days later',
    at: 'at a set time',
  },
  addStep: 'Add step',
  removeStep: (position: number) => `Remove step ${position}`,
  ends: (percent: number) => (percent === 100 ? 'On for everyone by' : `${share(percent)} reached by`),
  submit: 'Start plan',
  started: (flag: string, environment: string) => `Rollout plan for ${flag} started in ${environment}`,
  zone: (zone: string) => `Times are in ${zone}.`,

  // The mark in the flag table
  mark: (steps: string, time: string | undefined) =>
    `Rollout plan ${steps}, ${time === undefined ? 'paused' : `next on ${time}`}`,
} as const;
