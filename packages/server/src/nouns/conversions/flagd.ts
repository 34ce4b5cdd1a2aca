import {
  approximated,
  type ConversionRules,
  type Found,
  type FoundState,
  lost,
  type Note,
  type Source,
} from './conversion.ts';
import type { Piece } from './piece.ts';
import { type Part, stateOf } from './served.ts';

/** Reads a document of flagd, one environment each. */
export function readFlagd({ root, environment }: Source, rules: ConversionRules): Found {
  const flags = root.member('flags');
  if (flags.isAbsent) throw flags.wrong('an object of flags');
  return {
    flags: flags.members.map(([key, flag]) => ({
      key,
      place: flag.place,
      variants: flag.member('variants').members.map(([name, value]) => ({ name, valueText: value.json() })),
      states: new Map([[environment(), readState(key, flag, rules)]]),
    })),
  };
}

function readState(key: string, flag: Piece, rules: ConversionRules): FoundState {
  const state = flag.member('state').text();
  if (state !== 'ENABLED' && state !== 'DISABLED') throw flag.member('state').wrong('ENABLED or DISABLED');
  const variants = flag.member('variants');
  const notes: Note[] = [];
  const split = splitOf(key, flag.member('targeting'), notes);
  const byDefault = flag.member('defaultVariant');
  const parts: readonly Part[] = split?.parts ?? [
    { value: byDefault.isAbsent ? '' : byDefault.text(), weight: 1 },
  ];
  // A name that is no variant is the default in the caller's code.
  const valueAt = (name = '') => (variants.member(name).isAbsent ? undefined : variants.member(name).json());
  const served = parts.map(({ value, weight }) => ({ value: valueAt(value), weight }));
  return stateOf(
    { piece: flag, isOn: state === 'ENABLED', parts: served, notes, isSameHash: split?.isOurs === true },
    rules,
  );
}

interface Split {
  /** The names of variants with their weights. */
  readonly parts: readonly Part[];
  /** Whether it hashes what Halyard hashes. */
  readonly isOurs: boolean;
}

/** The shares of a `fractional` that is all there is of the targeting; other targeting is lost. */
function splitOf(key: string, targeting: Piece, notes: Note[]): Split | undefined {
  if (targeting.isEmpty) return undefined;
  const fractional = withoutGuard(targeting).member('fractional');
  const [first, ...others] = fractional.isAbsent ? [] : fractional.elements;
  if (first === undefined || targeting.members.length > 1) {
    notes.push(lost(targeting, 'the targeting is left out'));
    return undefined;
  }

  const hasUnit = !Array.isArray(first.data);
  const shares = hasUnit ? others : [first, ...others];
  if (!shares.every(isPlainShare)) {
    notes.push(lost(fractional, 'the targeting is left out: it computes shares'));
    return undefined;
  }
  const parts = shares.map((each) => {
    const [name, weight] = each.elements;
    return { value: name?.text() ?? '', weight: weight?.number() ?? 1 };
  });
  const user = { var: 'targetingKey' };
  const ours = [
    [`${key}:`, user],
    [{ var: '$flagd.flagKey' }, ':', user],
  ].map((cat) => JSON.stringify({ cat }));
  const isOurs = hasUnit && ours.includes(first.json());
  const isKnown = isOurs || !hasUnit || first.json().includes('"targetingKey"');
  if (!isKnown)
    notes.push(approximated(first, 'decided by another attribute there, by the targeting key here'));
  return { parts, isOurs };
}

/** The name of a variant, and perhaps its weight. */
function isPlainShare(share: Piece): boolean {
  if (!Array.isArray(share.data)) return false;
  const [name, weight = 1, ...more] = share.data;
  return typeof name === 'string' && typeof weight === 'number' && more.length === 0;
}

/** The expression behind the guard that our own export writes: without a targeting key there is no answer. */
function withoutGuard(targeting: Piece): Piece {
  const [condition, , otherwise, ...more] = targeting.member('if').isAbsent
    ? []
    : targeting.member('if').elements;
  const guard = { '===': [{ var: 'targetingKey' }, null] };
  const isGuard = condition?.json() === JSON.stringify(guard) && more.length === 0;
  return isGuard && otherwise !== undefined ? otherwise : targeting;
}
