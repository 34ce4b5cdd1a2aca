import {
  approximated,
  type ConversionRules,
  type Found,
  type FoundState,
  leftOut,
  type Source,
} from './conversion.ts';
import type { Piece } from './piece.ts';
import { stateOf, textValue } from './served.ts';

/** Reads ConfigCat's `config_v6.json`, which the address of an SDK key gives: one environment each. */
export function readConfigCat({ root, environment }: Source, rules: ConversionRules): Found {
  const settings = root.member('f');
  if (settings.isAbsent && root.member('p').isAbsent)
    throw settings.wrong('the settings of a config_v6.json');
  return {
    flags: settings.members.map(([key, setting]) => ({
      key,
      place: setting.place,
      states: new Map([[environment(), readState(setting, rules)]]),
    })),
  };
}

function readState(setting: Piece, rules: ConversionRules): FoundState {
  const attribute = setting.member('a').optionalText();
  const options = setting.member('p').elements;
  const notes = [
    ...leftOut([setting.member('r'), 'targeting rule']),
    ...(options.length === 0 || ['', 'Identifier'].includes(attribute)
      ? []
      : [approximated(setting, `decided by ${attribute} there, by the targeting key here`)]),
  ];
  const parts =
    options.length === 0
      ? [{ value: readValue(setting.member('v'), rules), weight: 100 }]
      : options.map((each) => ({
          value: readValue(each.member('v'), rules),
          weight: each.member('p').number(),
        }));
  return stateOf({ piece: setting, isOn: true, parts, notes }, rules);
}

/** The value as JSON text: one of four members, by its type. */
function readValue(value: Piece, rules: ConversionRules): string {
  const text = value.member('s');
  if (!text.isAbsent) return textValue(text.text(), rules);
  const [typed] = ['b', 'i', 'd'].map((name) => value.member(name)).filter(({ isAbsent }) => !isAbsent);
  if (typed === undefined) throw value.wrong('a value with b, s, i or d');
  return typed.json();
}
