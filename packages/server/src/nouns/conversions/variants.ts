import {
  MAX_NAMED_VALUES,
  type NamedValue,
  type NamedValuesText,
  NO_NAMED_VALUES,
  namedValuesText,
} from '../../domain/named-values.ts';
import { shorten } from '../../domain/text.ts';

/**
 * The variants of a flag, over all files. They become named values if there is a choice: two values or more beside `true` and
 * `false`, which are a flag that is on or off.
 */
export class Variants {
  /** By the JSON text of the value. */
  readonly #values = new Map<string, NamedValue>();
  readonly #names = new Set<string>();

  /** Adds variants. Returns what is left out, in words. */
  add(variants: readonly NamedValue[]): readonly string[] {
    return variants.flatMap((variant) => {
      if (variant.valueText === 'true' || variant.valueText === 'false') return [];
      const name = lineOf(variant.name, MAX_NAMED_VALUES.name);
      const known = this.#values.get(variant.valueText);
      if (known?.name === name || name === '') return [];
      if (known !== undefined)
        return [`the variant ${name} has the value of ${known.name}, which keeps its name`];
      if (this.#names.has(name)) return [`the variant ${name} has several values: the first keeps the name`];
      if (this.#names.size >= MAX_NAMED_VALUES.count) return [`the variant ${name} is one too many`];

      this.#names.add(name);
      const description = lineOf(variant.description ?? '', MAX_NAMED_VALUES.description);
      const { valueText } = variant;
      this.#values.set(valueText, { name, valueText, ...(description !== '' && { description }) });
      return [];
    });
  }

  /** The named values; none if there is nothing to choose, or if they are too large. */
  get text(): NamedValuesText {
    return this.#values.size < 2 || this.isTooLarge ? NO_NAMED_VALUES : this.#all;
  }

  /** Whether they are more bytes than a flag keeps. */
  get isTooLarge(): boolean {
    return Buffer.byteLength(this.#all) > MAX_NAMED_VALUES.bytes;
  }

  get #all(): NamedValuesText {
    return namedValuesText([...this.#values.values()]);
  }
}

function lineOf(text: string, length: number): string {
  const line = text.replace(/[\s\p{Cc}\p{Cs}]+/gu, ' ').trim();
  return shorten(line, length).trim();
}
