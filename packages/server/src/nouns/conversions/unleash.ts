import { compactJson } from '@halyard/protocol';
import {
  approximated,
  type ConversionRules,
  type Found,
  type FoundState,
  leftOut,
  lost,
  type Note,
  type Source,
} from './conversion.ts';
import type { Piece } from './piece.ts';
import { type Part, stateOf } from './served.ts';

/** Types of flags that Unleash never counts as stale. */
const PERMANENT = ['kill-switch', 'permission', 'operational'];

/** Where old and new strategies have their percentage. */
const ROLLOUTS: Readonly<Record<string, string>> = {
  flexibleRollout: 'rollout',
  gradualRolloutUserId: 'percentage',
  gradualRolloutSessionId: 'percentage',
  gradualRolloutRandom: 'percentage',
};

/** Strategies that decide anew at each read. */
const RANDOM = ['random', 'gradualRolloutRandom'];

/** Reads an export of Unleash: `POST /api/admin/features-batch/export`, one environment each. */
export function readUnleash({ root, environment }: Source, rules: ConversionRules): Found {
  const content = root.member('data').isObject ? root.member('data') : root;
  if (content.member('features').isAbsent) throw content.member('features').wrong('the list of flags');
  const strategies = byFeature(content.member('featureStrategies'));
  const environments = byFeature(content.member('featureEnvironments'));
  const tags = byFeature(content.member('featureTags'));
  const dependent = new Map(
    content.member('dependencies').elements.map((each) => [each.member('feature').text(), each]),
  );

  const flags = content.member('features').elements.map((feature) => {
    const key = feature.member('name').text();
    const states = new Map<string, FoundState>();
    for (const place of environments.get(key) ?? []) {
      const name = place.member('environment').optionalText() || environment();
      const parents = dependent.get(key);
      const notes = parents === undefined ? [] : leftOut([parents.member('dependencies'), 'parent flag']);
      states.set(name, readState(place, strategies.get(key) ?? [], notes, rules));
    }
    return {
      key,
      place: feature.place,
      details: {
        description: feature.member('description').optionalText(),
        permanent: PERMANENT.includes(feature.member('type').optionalText()),
        tags: (tags.get(key) ?? []).map(readTag),
      },
      isArchived: feature.member('archived').boolean(false),
      variants: [...(strategies.get(key) ?? []), ...(environments.get(key) ?? [])]
        .flatMap((place) => place.member('variants').elements)
        .map((variant) => ({ name: variant.member('name').text(), valueText: payloadOf(variant) })),
      states,
    };
  });
  return { flags };
}

function readState(
  place: Piece,
  all: readonly Piece[],
  parents: readonly Note[],
  rules: ConversionRules,
): FoundState {
  const active = all.filter((strategy) => !strategy.member('disabled').boolean(false));
  const [strategy, second] = active;
  const notes = [...parents];
  if (active.length < all.length) {
    const what = `${all.length - active.length} of ${all.length} strategies are disabled, and left out`;
    notes.push(active.length === 0 ? lost(place, 'all strategies are disabled') : approximated(place, what));
  }
  if (second !== undefined) notes.push(lost(second, `${active.length} strategies, of which any is enough`));

  const isAlone = strategy !== undefined && second === undefined;
  const read = isAlone ? readStrategy(strategy, notes) : { share: 100, variants: place.member('') };
  const ofEnvironment = place.member('variants');
  const value = readVariants(read.variants.isEmpty ? ofEnvironment : read.variants, notes);
  const parts: readonly Part[] = [
    { value, weight: read.share },
    { value: value === 'true' ? 'false' : undefined, weight: 100 - read.share },
  ];
  return stateOf({ piece: place, isOn: place.member('enabled').boolean(), parts, notes }, rules);
}

/** The share of the users that a strategy includes, and its variants. */
function readStrategy(strategy: Piece, notes: Note[]): { readonly share: number; readonly variants: Piece } {
  const name = strategy.member('name').text();
  const parameters = strategy.member('parameters');
  notes.push(
    ...leftOut([strategy.member('constraints'), 'constraint'], [strategy.member('segments'), 'segment']),
  );

  const variants = strategy.member('variants');
  const parameter = ROLLOUTS[name];
  if (parameter === undefined) {
    if (name !== 'default') notes.push(lost(strategy, `the strategy ${name} is left out`));
    return { share: 100, variants };
  }

  const stickiness = parameters.isAbsent ? '' : parameters.member('stickiness').optionalText();
  if (RANDOM.includes(name) || RANDOM.includes(stickiness))
    notes.push(approximated(strategy, 'decided anew at each read there, by the targeting key here'));
  else if (!['', 'default', 'userId'].includes(stickiness))
    notes.push(approximated(strategy, `decided by ${stickiness} there, by the targeting key here`));
  const rollout = parameters.isAbsent ? parameters : parameters.member(parameter);
  const share = rollout.isAbsent ? 100 : rollout.number();
  if (share < 0 || share > 100) throw rollout.wrong('a number from 0 to 100');
  return { share, variants };
}

/** The value that every user gets, as JSON text; `true` without variants. */
function readVariants(variants: Piece, notes: Note[]): string {
  const [only, second] = variants.elements.filter((each) => each.member('weight').number() > 0);
  if (only === undefined) return 'true';
  if (second !== undefined) {
    notes.push(lost(variants, `${variants.elements.length} variants left out`));
    return 'true';
  }

  const text =
    'the variant is the value here: read that, because a boolean read of OpenFeature gets its default';
  notes.push(approximated(only, text));
  return payloadOf(only);
}

/** What a variant gives, as JSON text: its payload, or its name. */
function payloadOf(variant: Piece): string {
  const payload = variant.member('payload');
  if (payload.isAbsent) return variant.member('name').json();
  const text = payload.member('value').text();
  if (!['json', 'number'].includes(payload.member('type').text())) return JSON.stringify(text);
  try {
    return compactJson(text);
  } catch {
    throw payload.member('value').wrong('JSON');
  }
}

function readTag(tag: Piece): string {
  const value = tag.member('tagValue').text();
  const type = tag.member('tagType').optionalText();
  return type === '' || type === 'simple' ? value : `${type}:${value}`;
}

function byFeature(list: Piece): ReadonlyMap<string, readonly Piece[]> {
  return Map.groupBy(list.elements, (each) => each.member('featureName').text());
}
