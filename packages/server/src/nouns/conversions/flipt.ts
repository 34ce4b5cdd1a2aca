import type { NamedValue } from '../../domain/named-values.ts';
import {
  approximated,
  type ConversionRules,
  describe,
  type Found,
  type FoundState,
  leftOut,
  lost,
  type Source,
} from './conversion.ts';
import { ConversionError, type Piece } from './piece.ts';
import { stateOf } from './served.ts';

/** Reads documents of Flipt: `flipt export`, or the `features.yaml` of an environment of version 2. */
export function readFlipt({ root, environment }: Source, rules: ConversionRules): Found {
  const all = Array.isArray(root.data) ? root.elements : [root];
  const names = [...new Set(all.map(namespaceOf))];
  const chosen = rules.namespace ?? (names.length === 1 ? names[0] : undefined);
  if (chosen === undefined || !names.includes(chosen))
    throw new ConversionError(`${root.place}choose one namespace with --namespace: ${names.join(', ')}.`);

  const flags = all
    .filter((each) => namespaceOf(each) === chosen)
    .flatMap((each) => each.member('flags').elements)
    .map((flag) => {
      const key = flag.member('key').text();
      const state = isBoolean(flag) ? readBoolean(flag, rules) : readVariants(flag, rules);
      return {
        key,
        place: flag.place,
        details: {
          description: describe(
            key,
            flag.member('name').optionalText(),
            flag.member('description').optionalText(),
          ),
        },
        variants: isBoolean(flag)
          ? []
          : flag.member('variants').elements.map((each) => readVariant(each, rules)),
        states: new Map([[environment(), state]]),
      };
    });
  return { flags };
}

/** A namespace is a text up to version 1.3 of the format. */
function namespaceOf(document: Piece): string {
  const namespace = document.member('namespace');
  return (namespace.isObject ? namespace.member('key') : namespace).optionalText() || 'default';
}

function isBoolean(flag: Piece): boolean {
  const type = flag.member('type').optionalText();
  if (!['', 'BOOLEAN_FLAG_TYPE', 'VARIANT_FLAG_TYPE'].includes(type))
    throw flag.member('type').wrong('BOOLEAN_FLAG_TYPE or VARIANT_FLAG_TYPE');
  return type === 'BOOLEAN_FLAG_TYPE';
}

/** `enabled` is the answer where no rollout matches, and no switch. */
function readBoolean(flag: Piece, rules: ConversionRules): FoundState {
  const rollouts = flag.member('rollouts').elements;
  const segments = rollouts.filter((each) => !each.member('segment').isAbsent);
  const thresholds = rollouts.map((each) => each.member('threshold')).filter(({ isAbsent }) => !isAbsent);
  const notes = segments.map((each) => lost(each, 'the rollout to a segment is left out'));
  const [threshold, second] = thresholds;
  if (second !== undefined)
    notes.push(lost(second, `${thresholds.length} thresholds, of which the first matches`));

  const rest = { value: flag.member('enabled').boolean(false) ? 'true' : 'false', weight: 100 };
  if (threshold === undefined) return stateOf({ piece: flag, isOn: true, parts: [rest], notes }, rules);
  const percentage = threshold.member('percentage');
  const share = percentage.isAbsent ? 0 : percentage.number();
  if (share < 0 || share > 100) throw percentage.wrong('a number from 0 to 100');
  const value = threshold.member('value').boolean(false) ? 'true' : 'false';
  const parts = [
    { value, weight: share },
    { ...rest, weight: 100 - share },
  ];
  return stateOf({ piece: flag, isOn: true, parts, notes }, rules);
}

/** A variant with what it gives; its key where nothing else is chosen. */
function readVariant(variant: Piece, { variantValue }: ConversionRules): NamedValue {
  const key = variant.member('key');
  const attachment = variant.member('attachment');
  const isAttachment = variantValue === 'attachment' && !attachment.isEmpty;
  const name = variant.member('name').optionalText() || key.text();
  const description = variant.member('description').optionalText();
  return { name, valueText: isAttachment ? attachment.json() : key.json(), description };
}

function readVariants(flag: Piece, rules: ConversionRules): FoundState {
  const isOn = flag.member('enabled').boolean(false);
  const notes = [...leftOut([flag.member('rules'), 'rule'])];
  const variant = flag.member('variants').elements.find((each) => each.member('default').boolean(false));
  if (variant === undefined) {
    if (notes.length === 0) notes.push(approximated(flag, 'has no default variant, so no user gets one'));
    return { enabled: false, notes };
  }

  const attachment = variant.member('attachment');
  const { variantValue = attachment.isEmpty ? 'key' : undefined } = rules;
  if (variantValue === undefined)
    notes.push(lost(attachment, 'the variant has a key and an attachment: choose with --variant-value'));
  const isAttachment = variantValue === 'attachment' && !attachment.isEmpty;
  const value = isAttachment ? attachment.json() : variant.member('key').json();
  const state = stateOf({ piece: flag, isOn, parts: [{ value, weight: 1 }], notes }, rules);
  return variantValue === undefined ? { enabled: false, notes: state.notes } : state;
}
