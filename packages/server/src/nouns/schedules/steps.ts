import { elementsOf } from '@halyard/protocol';
import { invalid, quote } from '../../domain/errors.ts';
import { readState } from '../../domain/flag-state-text.ts';
import type { StateOperation, StateText } from '../../domain/project.ts';
import { RawJson, rawJson, writeJson } from '../../domain/raw-json.ts';
import { at, memberPath, readMembers } from '../../domain/strict-members.ts';
import { checkFlagKey } from '../../management/rules.ts';
import { applyPatch, checkPatch, type StatePatch } from '../states/state-patch.ts';

/** Most flags in one schedule. */
export const MAX_SCHEDULED = 1000;

/** One step of a schedule: a whole state, `null` to remove it, or a patch of the state at that time. */
export type ScheduledStep = { readonly key: string } & (
  | { readonly state: StateText | null }
  | { readonly patch: StatePatch }
);

/**
 * Reads steps from the raw text of a list such as `[{"key": "a", "state": {…}}, {"key": "b", "patch": {…}}]`.
 * Anything else is `invalid_argument`. The text must be valid JSON.
 */
export function readSteps(text: string, path = 'changes'): readonly ScheduledStep[] {
  const elements = elementsOf(text);
  if (elements === undefined) throw invalid(`${at(path)} must be a list.`);
  if (elements.length === 0 || elements.length > MAX_SCHEDULED) {
    throw invalid(`${at(path)} has ${elements.length} entries: name 1 to ${MAX_SCHEDULED} flags.`);
  }
  const steps = elements.map((element, index) => readStep(element, `${path}[${index}]`));
  const seen = new Set<string>();
  for (const { key } of steps) {
    if (seen.has(key))
      throw invalid(`${at(path)} names ${quote(key)} more than once: give one step per flag.`);
    seen.add(key);
  }
  return steps;
}

/** The steps as the text that {@link readSteps} reads, each value as its writer sent it. */
export function writeSteps(steps: readonly ScheduledStep[]): string {
  return writeJson(
    steps.map((step) => {
      if ('state' in step) return { key: step.key, state: new RawJson(step.state ?? 'null') };
      const { enabled, valueText, rolloutPct, unset } = step.patch;
      const value = rawJson(valueText);
      return { key: step.key, patch: { enabled, value, rolloutPct, unset } };
    }),
  );
}

/** The operation of a step on the current state, `undefined` when the flag has no state. */
export function operationOf(step: ScheduledStep, current: StateText | undefined): StateOperation {
  return [step.key, 'state' in step ? step.state : applyPatch(current, step.patch)];
}

function readStep(text: string, path: string): ScheduledStep {
  const members = readMembers(text, path, { required: ['key'], optional: ['state', 'patch'] });
  const key: unknown = JSON.parse(members.get('key') ?? 'null');
  if (typeof key !== 'string') throw invalid(`${at(memberPath(path, 'key'))} must be a flag key.`);
  checkFlagKey(key);
  const [state, patch] = [members.get('state'), members.get('patch')];
  if ((state === undefined) === (patch === undefined)) {
    throw invalid(`${at(path)} must have either "state" or "patch".`);
  }
  if (patch !== undefined) return { key, patch: readPatch(patch, memberPath(path, 'patch')) };
  if (state === undefined || state === 'null') return { key, state: null };
  return { key, state: readState(state, memberPath(path, 'state')) };
}

function readPatch(text: string, path: string): StatePatch {
  const members = readMembers(text, path, {
    required: [],
    optional: ['enabled', 'value', 'rolloutPct', 'unset'],
  });
  const member = (name: string): unknown => JSON.parse(members.get(name) ?? 'null');
  const has = (name: string) => members.has(name);
  const [enabled, rolloutPct, unset] = [member('enabled'), member('rolloutPct'), member('unset')];
  if (has('enabled') && typeof enabled !== 'boolean') {
    throw invalid(`${at(memberPath(path, 'enabled'))} must be true or false.`);
  }
  if (has('rolloutPct') && typeof rolloutPct !== 'number') {
    throw invalid(`${at(memberPath(path, 'rolloutPct'))} must be a number from 0 to 100.`);
  }
  if (has('unset') && !isUnset(unset)) {
    throw invalid(`${at(memberPath(path, 'unset'))} must be a list of "value" and "rolloutPct".`);
  }
  const valueText = members.get('value');
  const patch: StatePatch = {
    ...(typeof enabled === 'boolean' ? { enabled } : {}),
    ...(valueText === undefined ? {} : { valueText }),
    ...(typeof rolloutPct === 'number' ? { rolloutPct } : {}),
    ...(isUnset(unset) ? { unset } : {}),
  };
  checkPatch(patch);
  // Refuses an invalid value or percentage now rather than when the change is due.
  applyPatch(undefined, patch);
  return patch;
}

function isUnset(data: unknown): data is ('value' | 'rolloutPct')[] {
  return Array.isArray(data) && data.every((item) => item === 'value' || item === 'rolloutPct');
}
