import type { ChangePayload } from '../../domain/change-log.ts';

/** Longer payloads are read in parts: parsing and checking a part takes about a millisecond. In characters. */
const PART_LENGTH = 64 * 1024;

/** Whether reads should get their turn while a payload is parsed and checked. */
export function isLarge({ payload }: { readonly payload: string }): boolean {
  return payload.length > 2 * PART_LENGTH;
}

/**
 * The operations of a large `flags.changed` payload, some at a time. A list is cut where one operation ends and the next
 * begins: these four characters are in no state, which ends with `}`, and in no key. If they are all the same, the part
 * does not parse, and this throws a `SyntaxError`; what parses is exactly what the whole text holds.
 */
export function* payloadParts(payload: string): Generator<ChangePayload['flags.changed']> {
  const end = payload.length - 1;
  if (payload[0] !== '[' || payload[end] !== ']') throw new SyntaxError('the payload is not a list');
  for (let from = 1; from < end; ) {
    const cut = payload.indexOf('],["', from + PART_LENGTH);
    const to = cut === -1 ? end : cut + 1;
    yield JSON.parse(`[${payload.slice(from, to)}]`);
    from = to + 1;
  }
}
