import {
  compactJson,
  defined,
  FLAG_STATE_MEMBERS,
  type FlagState,
  isRolloutPct,
  MAX_VALUE_BYTES,
  MAX_VALUE_DEPTH,
  membersOf,
  nestingOf,
  parseFlagState,
  withoutSpace,
} from '@halyard/protocol';
import type { StateText } from './project.ts';
import { invalidAt, memberPath, readMembers } from './strict-members.ts';

/** The parts of a flag state; its value is still the writer's own text. */
export interface StateParts {
  readonly enabled: boolean;
  /** JSON text of the value; absent when there is no value. */
  readonly valueText?: string;
  readonly rolloutPct?: number;
  /** JSON texts of members that a newer version wrote and this one does not know, by name. */
  readonly others?: ReadonlyMap<string, string>;
}

/**
 * Builds the stored form of a flag state; the value keeps its text, less white space. A value that is too large or
 * too deep and an impossible percentage are `invalid_argument`; `path` says where in the body the state is.
 */
export function buildState(parts: StateParts, path = ''): StateText {
  const members = [`"enabled":${parts.enabled}`];
  if (parts.valueText !== undefined) {
    members.push(`"value":${checkValue(parts.valueText, memberPath(path, 'value'))}`);
  }
  if (parts.rolloutPct !== undefined) {
    members.push(`"rolloutPct":${checkRollout(parts.rolloutPct, memberPath(path, 'rolloutPct'))}`);
  }
  for (const [name, text] of parts.others ?? [])
    members.push(`${JSON.stringify(name)}:${withoutSpace(text)}`);
  return `{${members.join(',')}}`;
}

/** Reads a stored state; `undefined` when the record is damaged and so counts as absent. */
export function parseStored(stored: unknown): FlagState | undefined {
  if (typeof stored !== 'string') return undefined;
  try {
    return parseFlagState(JSON.parse(stored));
  } catch {
    // Damaged: absent, see above.
    return undefined;
  }
}

/** Takes a stored state apart; `undefined` when the record is damaged. */
export function stateParts(stored: StateText): StateParts | undefined {
  const state = parseStored(stored);
  if (state === undefined) return undefined;
  const members = new Map(membersOf(stored));
  const others = new Map([...members].filter(([name]) => !FLAG_STATE_MEMBERS.includes(name)));
  return defined({
    enabled: state.enabled,
    valueText: members.get('value'),
    rolloutPct: state.rolloutPct,
    others: others.size === 0 ? undefined : others,
  });
}

/**
 * The text of a stored state as readers get it: the specified members and no others, without line breaks, which would
 * cut a frame in two. `undefined` when the record is damaged and so counts as absent.
 */
export function servedState(stored: unknown): StateText | undefined {
  const state = parseStored(stored);
  if (state === undefined) return undefined;
  // `string`: nothing else can be parsed.
  const text = stored as string;
  // True for nearly all states, and a start reads every one: this halves the processor time of 10,000 flags.
  if (JSON.stringify(state) === text) return text;
  const members = new Map(membersOf(text));
  const served = FLAG_STATE_MEMBERS.flatMap((name) => {
    const member = members.get(name);
    return member === undefined ? [] : [`"${name}":${withoutSpace(member)}`];
  });
  return `{${served.join(',')}}`;
}

/**
 * Reads a whole flag state from the raw text of a request: `enabled`, and perhaps `value` and `rolloutPct`, nothing
 * else. Anything else is `invalid_argument`. The text must be valid JSON.
 */
export function readState(text: string, path = ''): StateText {
  const members = readMembers(text, path, { required: ['enabled'], optional: ['value', 'rolloutPct'] });
  const enabled: unknown = JSON.parse(members.get('enabled') ?? 'null');
  if (typeof enabled !== 'boolean') {
    throw invalidAt(memberPath(path, 'enabled'), 'must be true or false.');
  }
  const valueText = members.get('value');
  const rolloutText = members.get('rolloutPct');
  return buildState(
    defined({
      enabled,
      valueText,
      rolloutPct: rolloutText === undefined ? undefined : readRollout(rolloutText, path),
    }),
    path,
  );
}

function readRollout(text: string, path: string): number {
  const data: unknown = JSON.parse(text);
  return checkRollout(data, memberPath(path, 'rolloutPct'));
}

function checkRollout(data: unknown, path: string): number {
  if (isRolloutPct(data)) return data;
  const rule = 'must be a number from 0 to 100 with at most three decimals; leave it out to mean everyone.';
  throw invalidAt(path, rule);
}

/** Refuses a value that is too large or too deep, with `path` in the message. Returns it without white space. (Spec: S13.4) */
export function checkValue(text: string, path: string): string {
  if (nestingOf(text) > MAX_VALUE_DEPTH) {
    throw invalidAt(path, `is nested too deeply: at most ${MAX_VALUE_DEPTH} levels are kept.`);
  }
  const compact = compactJson(text);
  const bytes = Buffer.byteLength(compact);
  if (bytes > MAX_VALUE_BYTES) {
    throw invalidAt(path, `is ${bytes} bytes long as JSON: at most ${MAX_VALUE_BYTES} are kept.`);
  }
  return compact;
}
