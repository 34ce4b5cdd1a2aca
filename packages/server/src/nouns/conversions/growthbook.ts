import { compactJson } from '@halyard/protocol';
import {
  approximated,
  type ConversionRules,
  count,
  type Found,
  type FoundFlag,
  type FoundState,
  leftOut,
  lost,
  type Note,
  type Source,
} from './conversion.ts';
import type { Piece } from './piece.ts';
import { type Part, stateOf } from './served.ts';

/** Reads the flags of GrowthBook: `GET /api/v2/features` or `/api/v1/features`, all environments at once. */
export function readGrowthBook({ root }: Source, rules: ConversionRules): Found {
  const features = root.member('features');
  if (features.isAbsent) throw features.wrong('the list of flags');
  return {
    flags: features.elements.map((feature) => readFlag(feature, rules)),
    warnings: root.member('hasMore').boolean(false)
      ? ['The answer has further pages (`hasMore`): convert them too.']
      : [],
  };
}

function readFlag(feature: Piece, rules: ConversionRules): FoundFlag {
  const states = feature
    .member('environments')
    .members.map(([name, place]) => [name, readState(feature, { name, place }, rules)] as const);
  return {
    key: feature.member('id').text(),
    place: feature.place,
    details: {
      description: feature.member('description').optionalText(),
      tags: feature.member('tags').elements.map((tag) => tag.text()),
      owner: feature.member('owner').optionalText(),
    },
    isArchived: feature.member('archived').boolean(false),
    states: new Map(states),
  };
}

function readState(
  feature: Piece,
  { name, place }: { readonly name: string; readonly place: Piece },
  rules: ConversionRules,
): FoundState {
  const type = feature.member('valueType').text();
  const byDefault = readValue(feature.member('defaultValue'), type);
  const holdout = feature.member('holdout');
  const notes: Note[] = [
    ...leftOut([feature.member('prerequisites'), 'prerequisite']),
    ...(holdout.isEmpty ? [] : [lost(holdout, 'the holdout is left out')]),
  ];
  // Version 1 of the API has them in the environment.
  const all = [...place.member('rules').elements, ...feature.member('rules').elements.filter(concerns(name))];
  const active = all.filter((rule) => rule.member('enabled').boolean(true));
  const [rule, second] = active;

  let parts: readonly Part[] = [{ value: byDefault, weight: 1 }];
  if (second !== undefined) {
    const kinds = active.map((each) => each.member('type').optionalText()).join(', ');
    notes.push(lost(second, `${count(active.length, 'rule')} left out (${kinds})`));
  } else if (rule !== undefined) parts = readRule(rule, { type, byDefault }, notes);
  return stateOf({ piece: place, isOn: place.member('enabled').boolean(), parts, notes }, rules);
}

function readRule(
  rule: Piece,
  { type, byDefault }: { readonly type: string; readonly byDefault: string },
  notes: Note[],
): readonly Part[] {
  const kind = rule.member('type').text();
  if (kind !== 'force' && kind !== 'rollout') {
    notes.push(lost(rule, `the rule (${kind}) is left out`));
    return [{ value: byDefault, weight: 1 }];
  }

  const conditions = ['condition', 'savedGroups', 'savedGroupTargeting', 'prerequisites', 'scheduleRules'];
  for (const name of conditions)
    if (!rule.member(name).isEmpty)
      notes.push(lost(rule.member(name), `the rule has a ${name}, which is left out`));
  const attribute = rule.member('hashAttribute').optionalText();
  const coverage = rule.member('coverage');
  const share = kind === 'force' || coverage.isAbsent ? 1 : coverage.number();
  if (share < 0 || share > 1) throw coverage.wrong('a number from 0 to 1');
  if (share < 1 && !['', 'id'].includes(attribute))
    notes.push(approximated(rule, `decided by ${attribute} there, by the targeting key here`));
  return [
    { value: readValue(rule.member('value'), type), weight: share },
    { value: byDefault, weight: 1 - share },
  ];
}

function concerns(name: string) {
  return (rule: Piece): boolean =>
    rule.member('allEnvironments').boolean(rule.member('environments').isAbsent) ||
    rule.member('environments').elements.some((each) => each.text() === name);
}

/** The JSON text of a value, which is a text whatever its type. */
function readValue(value: Piece, type: string): string {
  const text = value.text();
  if (type === 'string') return JSON.stringify(text);
  try {
    return compactJson(text);
  } catch {
    throw value.wrong(`a ${type} as text`);
  }
}
