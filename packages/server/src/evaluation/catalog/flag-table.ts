import type { StateText } from '../../domain/project.ts';

/** Fragments per block. A change re-encodes one block; the whole map is the blocks' bytes copied together. */
const BLOCK_SIZE = 128;
const COMMA = 0x2c;
const encoder = new TextEncoder();

interface Block {
  /** The table that may change the block; another one that shares it makes a copy first. */
  readonly owner: FlagTable;
  readonly keys: string[];
  /** `"key":{…}` per flag, in step with `keys`. */
  readonly fragments: string[];
  bytes: Uint8Array | undefined;
}

/**
 * The flags of one environment, sorted by key, as JSON fragments in blocks of cached bytes. A change costs its own
 * block and one copy of the map, not an encoding of every flag (bench/rest.ts prints the difference).
 */
export class FlagTable {
  readonly #states: Map<string, StateText>;
  readonly #blocks: Block[];

  /** An empty table, or one that begins as a copy of `other`. Copying shares the blocks: milliseconds for 60,000 flags. */
  constructor(other?: FlagTable) {
    this.#states = new Map(other === undefined ? [] : other.#states);
    this.#blocks = other === undefined ? [] : [...other.#blocks];
  }

  get size(): number {
    return this.#states.size;
  }

  /** The state text of a flag, or `undefined` where it does not exist. */
  get(key: string): StateText | undefined {
    return this.#states.get(key);
  }

  /** Every flag with its state text. */
  entries(): (readonly [key: string, state: StateText])[] {
    return [...this.#states];
  }

  /** Puts a flag in its place, or replaces its state. Returns `false` where it had this state before. */
  set(key: string, state: StateText): boolean {
    const before = this.#states.get(key);
    if (before === state) return false;
    const known = before !== undefined;
    this.#states.set(key, state);

    const at = this.#blockFor(key);
    const block = this.#own(at) ?? this.#addBlock();
    const index = lowerBound(block.keys, key);
    block.keys.splice(index, known ? 1 : 0, key);
    block.fragments.splice(index, known ? 1 : 0, member(key, state));
    block.bytes = undefined;
    if (block.keys.length >= 2 * BLOCK_SIZE) this.#split(at, block);
    return true;
  }

  /** Removes a flag. Returns `false` for one that was not there. */
  delete(key: string): boolean {
    if (!this.#states.delete(key)) return false;
    const at = this.#blockFor(key);
    const block = this.#own(at);
    if (block === undefined) return true;

    const index = lowerBound(block.keys, key);
    block.keys.splice(index, 1);
    block.fragments.splice(index, 1);
    block.bytes = undefined;
    if (block.keys.length === 0) this.#blocks.splice(at, 1);
    return true;
  }

  /** Does the dear part of {@link encode} ahead of it, a little in each step. */
  *encodeAhead(): Generator<void> {
    for (const block of this.#blocks) {
      if (block.bytes !== undefined) continue;
      encodeBlock(block);
      yield;
    }
  }

  /** The members of the map as UTF-8 JSON, between a prefix and a suffix: `prefix"a":{…},"b":{…}suffix`. */
  encode(prefix: Uint8Array, suffix: Uint8Array): Uint8Array {
    const parts = this.#blocks.map((block) => block.bytes ?? encodeBlock(block));
    const commas = Math.max(0, parts.length - 1);
    const total = parts.reduce((sum, part) => sum + part.length, prefix.length + commas + suffix.length);
    const bytes = new Uint8Array(total);
    bytes.set(prefix, 0);
    let offset = prefix.length;
    for (const [index, part] of parts.entries()) {
      if (index > 0) bytes[offset++] = COMMA;
      bytes.set(part, offset);
      offset += part.length;
    }
    bytes.set(suffix, offset);
    return bytes;
  }

  /** The index of the last block that begins at or before `key`; 0 for a key before them all. */
  #blockFor(key: string): number {
    let low = 0;
    let high = this.#blocks.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#blocks[middle]?.keys[0] ?? '') <= key) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  #addBlock(): Block {
    const block: Block = { owner: this, keys: [], fragments: [], bytes: undefined };
    this.#blocks.push(block);
    return block;
  }

  /** The block at an index, so that it can be changed. */
  #own(at: number): Block | undefined {
    const block = this.#blocks[at];
    if (block === undefined || block.owner === this) return block;
    const copy = { ...block, owner: this, keys: [...block.keys], fragments: [...block.fragments] };
    this.#blocks[at] = copy;
    return copy;
  }

  #split(at: number, block: Block): void {
    const keys = block.keys.splice(BLOCK_SIZE);
    const fragments = block.fragments.splice(BLOCK_SIZE);
    this.#blocks.splice(at + 1, 0, { owner: this, keys, fragments, bytes: undefined });
  }
}

/** A flag as a member of a map. */
export function member(key: string, state: StateText): string {
  return `${JSON.stringify(key)}:${state}`;
}

function encodeBlock(block: Block): Uint8Array {
  block.bytes = encoder.encode(block.fragments.join(','));
  return block.bytes;
}

/** The index of the first key that is not smaller than `key`. */
function lowerBound(keys: readonly string[], key: string): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((keys[middle] ?? '') < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
