import { isRolloutPct } from '@halyard/protocol';
import type { NewSchedule } from '../../api/schedules.ts';
import type { FlagState, Json, ScheduledStep } from '../../api/types.ts';
import { shareOf } from '../share.ts';
import { messages } from './messages.ts';

/** The kinds of steps. */
export type StepKind = 'on' | 'off' | 'rollout' | 'share' | 'value' | 'remove';

/** A step as it is being typed. */
export interface DraftStep {
  readonly id: number;
  readonly key: string;
  readonly kind: StepKind;
  /** The percentage or the JSON value. */
  readonly text: string;
}

/** A schedule as it is being typed. `time` is local, as a `datetime-local` field has it. */
export interface Draft {
  readonly environment: string;
  readonly time: string;
  readonly steps: readonly DraftStep[];
  readonly note: string;
}

/** The problems of a draft, by field; those of steps by step ID. */
interface DraftProblems {
  readonly time?: string;
  readonly steps: ReadonlyMap<number, string>;
}

/** Validates a draft. `keys` are the existing flags; `now` is in epoch milliseconds. */
export function findProblems(
  draft: Draft,
  { keys, now }: { keys: ReadonlySet<string>; now: number },
): DraftProblems {
  const due = Date.parse(draft.time);
  const time = Number.isNaN(due) ? messages.timeMissing : due <= now ? messages.timePast : undefined;
  const steps = new Map<number, string>();
  const seen = new Set<string>();
  for (const step of draft.steps) {
    const problem = seen.has(step.key) ? messages.flagTwice : problemOf(step, keys);
    seen.add(step.key);
    if (problem !== undefined) steps.set(step.id, problem);
  }
  return { ...(time === undefined ? {} : { time }), steps };
}

function problemOf({ key, kind, text }: DraftStep, keys: ReadonlySet<string>): string | undefined {
  if (key === '') return messages.flagMissing;
  if (!keys.has(key)) return messages.flagUnknown;
  if (kind === 'rollout' || kind === 'share')
    return isRolloutPct(shareOf(text)) ? undefined : messages.percentageInvalid;
  return kind === 'value' && parseValue(text) === undefined ? messages.valueInvalid : undefined;
}

/** The request for a draft without problems. */
export function scheduleOf(draft: Draft): NewSchedule {
  const note = draft.note.trim();
  return {
    environment: draft.environment,
    dueAt: new Date(draft.time).toISOString(),
    changes: draft.steps.map(changeOf),
    ...(note === '' ? {} : { note }),
  };
}

/** The same as JSON text, in which a value keeps its notation: parsing changes some numbers. */
export function scheduleText(draft: Draft): string {
  const { changes, ...rest } = scheduleOf(draft);
  const steps = draft.steps.map(({ kind, text }, index) => {
    const step = changes[index];
    if (kind !== 'value' || step === undefined) return JSON.stringify(step);
    return `{"key":${JSON.stringify(step.key)},"patch":{"value":${text.trim()}}}`;
  });
  return `{"changes":[${steps.join(',')}],${JSON.stringify(rest).slice(1)}`;
}

function changeOf({ key, kind, text }: DraftStep): ScheduledStep {
  switch (kind) {
    case 'on':
      return { key, patch: { enabled: true } };
    case 'off':
      return { key, patch: { enabled: false } };
    case 'rollout':
      return { key, patch: { enabled: true, rolloutPct: shareOf(text) } };
    case 'share':
      return { key, patch: { rolloutPct: shareOf(text) } };
    case 'value':
      return { key, patch: { value: parseValue(text)?.value ?? null } };
    case 'remove':
      return { key, state: null };
  }
}

function parseValue(text: string): { readonly value: Json } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    // Still being typed.
    return undefined;
  }
}

/** An hour from `now`, at a full five minutes, as a `datetime-local` field has it. */
export function firstTime(now: Date): string {
  const step = 5 * 60_000;
  const due = new Date(Math.ceil((now.getTime() + 3_600_000) / step) * step);
  const local = new Date(due.getTime() - due.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}

/** The state after a step, based on the current one. */
export function afterStep(before: FlagState | undefined, step: ScheduledStep | undefined): FlagState | null {
  if (step === undefined || 'state' in step) return step?.state ?? null;
  const { unset = [], ...members } = step.patch;
  const { enabled, value, rolloutPct }: FlagState = { enabled: false, ...before, ...members };
  return {
    enabled,
    ...(value === undefined || unset.includes('value') ? {} : { value }),
    ...(rolloutPct === undefined || unset.includes('rolloutPct') ? {} : { rolloutPct }),
  };
}
