import type { NamedValue } from '../../domain/named-values.ts';
import {
  approximated,
  type ConversionRules,
  describe,
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

/** Reads the flags of a LaunchDarkly project: `GET /api/v2/flags/{project}?summary=0`, all environments at once. */
export function readLaunchDarkly({ root }: Source, rules: ConversionRules): Found {
  const list = Array.isArray(root.data) ? root : root.member('items');
  // One flag alone has the same shape.
  const items = list.isAbsent && root.isObject && !root.member('key').isAbsent ? [root] : list.elements;
  if (items.length === 0 && list.isAbsent) throw list.wrong('the list of flags');
  const hasMore =
    root.isObject && !root.member('_links').isAbsent && !root.member('_links').member('next').isAbsent;
  return {
    flags: items.map((item) => readFlag(item, rules)),
    warnings: hasMore ? ['The answer has further pages (`_links.next`): convert them too.'] : [],
  };
}

function readFlag(item: Piece, rules: ConversionRules): FoundFlag {
  const key = item.member('key').text();
  const values = item.member('variations').elements.map((variation) => variation.member('value').json());
  const states = item
    .member('environments')
    .members.map(([name, place]) => [name, readState(place, values, rules)] as const);
  const maintainer = item.member('_maintainer');
  return {
    key,
    place: item.place,
    details: {
      description: describe(
        key,
        item.member('name').optionalText(),
        item.member('description').optionalText(),
      ),
      tags: item.member('tags').elements.map((tag) => tag.text()),
      owner: maintainer.isAbsent ? '' : maintainer.member('email').optionalText(),
      permanent: !item.member('temporary').boolean(true),
    },
    isArchived: item.member('archived').boolean(false),
    variants: item.member('variations').elements.map(readVariation),
    states: new Map(states),
  };
}

/** A variation may have no name; people call it by its value then, if that is a word, or by its place. */
function readVariation(variation: Piece, index: number): NamedValue {
  const value = variation.member('value');
  const word = typeof value.data === 'string' && value.data.length <= 64 ? value.data : '';
  return {
    name: variation.member('name').optionalText() || word || `variation ${index + 1}`,
    valueText: value.json(),
    description: variation.member('description').optionalText(),
  };
}

function readState(place: Piece, values: readonly string[], rules: ConversionRules): FoundState {
  const fallthrough = place.member('fallthrough');
  // Without it, rules and rollouts are missing, and nothing says so.
  if (fallthrough.isAbsent) throw fallthrough.wrong('there: ask for the flags with summary=0');
  const targets = ['targets', 'contextTargets'].flatMap((name) => place.member(name).elements);
  const users = targets.flatMap((target) => target.member('values').elements).length;
  const notes: Note[] = [
    ...(users === 0 ? [] : [lost(place, `${users} single target${users === 1 ? '' : 's'} left out`)]),
    ...leftOut([place.member('rules'), 'rule'], [place.member('prerequisites'), 'prerequisite']),
  ];

  const valueAt = (index: Piece) => {
    const value = values[index.number()];
    if (value === undefined) throw index.wrong('the index of a variation');
    return value;
  };
  const offVariation = place.member('offVariation');
  const rollout = fallthrough.member('rollout');
  const parts = rollout.isAbsent
    ? [{ value: valueAt(fallthrough.member('variation')), weight: 1 }]
    : readRollout(rollout, valueAt, notes);
  const off = offVariation.isAbsent ? undefined : valueAt(offVariation);
  return stateOf({ piece: place, isOn: place.member('on').boolean(), parts, off, notes }, rules);
}

function readRollout(rollout: Piece, valueAt: (index: Piece) => string, notes: Note[]): readonly Part[] {
  const by = rollout.member('bucketBy').optionalText();
  const kind = rollout.member('contextKind').optionalText();
  if (!['', 'key'].includes(by) || !['', 'user'].includes(kind)) {
    const what = [kind, by].filter((each) => each !== '').join(' ');
    notes.push(approximated(rollout, `decided by ${what} there, by the targeting key here`));
  }
  if (
    rollout.member('kind').optionalText() === 'experiment' ||
    !rollout.member('experimentAllocation').isEmpty
  )
    notes.push(lost(rollout, 'the experiment is left out'));
  return rollout.member('variations').elements.map((each) => ({
    value: valueAt(each.member('variation')),
    weight: each.member('weight').number(),
  }));
}
