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
import { stateOf, textValue } from './served.ts';

/** Reads an export of Flagsmith (Project settings, Export), one environment each. */
export function readFlagsmith({ root, environment }: Source, rules: ConversionRules): Found {
  if (!Array.isArray(root.data)) throw root.wrong('a list of flags');
  const name = root.elements.length === 0 ? '' : environment();
  return {
    flags: root.elements.map((feature) => ({
      key: feature.member('name').text(),
      place: feature.place,
      states: new Map([[name, readState(feature, rules)]]),
    })),
    warnings: [
      'An export of Flagsmith has no segments, overrides, tags, owners and schedules: look there which flags have any.',
    ],
  };
}

function readState(feature: Piece, rules: ConversionRules): FoundState {
  const isOn = feature.member('enabled').boolean();
  const value = readValue(feature.member('value'), rules);
  const others = feature.member('multivariate').elements.map((each) => ({
    value: readValue(each.member('value'), rules) ?? 'true',
    weight: each.member('percentage_allocation').number(),
  }));
  const rest = 100 - others.reduce((sum, { weight }) => sum + weight, 0);
  const parts = [...others, { value: value ?? 'true', weight: Math.max(0, rest) }];
  const isContrary = isOn && parts.every((part) => part.value === 'false' || part.weight === 0);
  const notes: Note[] = [];
  if (isContrary) notes.push(lost(feature, 'is on with the value false: only one of the two fits'));
  else if (value !== undefined)
    notes.push(
      approximated(feature, 'switch and value are one here: a boolean read gets the default in your code'),
    );
  // The value is served whether the flag is on or off.
  return stateOf({ piece: feature, isOn, parts, off: value ?? 'false', notes }, rules);
}

/** The value as JSON text; `undefined` without one. */
function readValue(value: Piece, rules: ConversionRules): string | undefined {
  if (value.isAbsent || value.data === '') return undefined;
  return typeof value.data === 'string' ? textValue(value.data, rules) : value.json();
}
