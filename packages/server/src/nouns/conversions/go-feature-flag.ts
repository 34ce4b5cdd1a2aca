import {
  approximated,
  type ConversionRules,
  type Found,
  type FoundFlag,
  leftOut,
  lost,
  type Note,
  type Source,
} from './conversion.ts';
import type { Piece } from './piece.ts';
import { type Part, stateOf } from './served.ts';

/** Reads a file of GO Feature Flag, one environment each. */
export function readGoFeatureFlag({ root, environment }: Source, rules: ConversionRules): Found {
  return { flags: root.members.map(([key, flag]) => readFlag(key, flag, environment(), rules)) };
}

function readFlag(key: string, flag: Piece, environment: string, rules: ConversionRules): FoundFlag {
  const metadata = flag.member('metadata');
  const notes: Note[] = [
    ...leftOut(
      [flag.member('targeting'), 'targeting rule'],
      [flag.member('scheduledRollout'), 'scheduled step'],
    ),
    ...(flag.member('experimentation').isAbsent ? [] : [lost(flag, 'the experimentation is left out')]),
  ];
  const by = flag.member('bucketingKey').optionalText();
  if (by !== '') notes.push(approximated(flag, `decided by ${by} there, by the targeting key here`));

  const parts = readRule(flag, notes);
  const isOn = !flag.member('disable').boolean(false);
  const description = metadata.isAbsent ? '' : metadata.member('description').optionalText();
  return {
    key,
    place: flag.place,
    details: { description },
    variants: flag.member('variations').members.map(([name, value]) => ({ name, valueText: value.json() })),
    states: new Map([[environment, stateOf({ piece: flag, isOn, parts, notes }, rules)]]),
  };
}

function readRule(flag: Piece, notes: Note[]): readonly Part[] {
  const variations = flag.member('variations');
  const rule = flag.member('defaultRule');
  // The format before version 1 has neither.
  if (variations.isAbsent || rule.isAbsent) {
    notes.push(lost(flag, 'has no variations or no defaultRule'));
    return [];
  }
  const valueAt = (name: string, at: Piece) => {
    if (!variations.member(name).isAbsent) return variations.member(name).json();
    throw at.wrong('the name of a variation');
  };

  const variation = rule.member('variation');
  if (!variation.isAbsent) return [{ value: valueAt(variation.text(), variation), weight: 1 }];
  const percentage = rule.member('percentage');
  if (percentage.isAbsent) {
    const what = rule.member('progressiveRollout').isAbsent ? 'default rule' : 'progressive rollout';
    notes.push(lost(rule, `the ${what} is left out`));
    return [];
  }
  return percentage.members.map(([name, share]) => ({ value: valueAt(name, share), weight: share.number() }));
}
