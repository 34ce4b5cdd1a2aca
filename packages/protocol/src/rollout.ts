/** Buckets a rollout is divided into: a thousandth of a per cent each. */
export const ROLLOUT_BUCKETS = 100_000;

/**
 * The bucket, 0 to 99,999, of a targeting key for a flag: murmur3-32 with seed 0 of the UTF-8 bytes of
 * `flagKey:targetingKey`, scaled. The environment takes no part, so staging rehearses production.
 */
export function rolloutBucket(flagKey: string, targetingKey: string): number {
  return Math.floor(
    (murmur3(new TextEncoder().encode(`${flagKey}:${targetingKey}`)) * ROLLOUT_BUCKETS) / 2 ** 32,
  );
}

/** Whether a targeting key is inside a rollout of `rolloutPct` per cent. 0 is nobody, 100 or absent is everyone. */
export function isInRollout(flagKey: string, targetingKey: string, rolloutPct = 100): boolean {
  return rolloutBucket(flagKey, targetingKey) < Math.round(rolloutPct * 1000);
}

/** MurmurHash3, x86, 32 bits, seed 0, of bytes; an unsigned number. */
export function murmur3(bytes: Uint8Array): number {
  let hash = 0;
  for (let i = 0; i < bytes.length; i += 4) {
    // The last block may be cut short; what is missing counts as zero.
    hash ^= scramble(
      byteAt(bytes, i) |
        (byteAt(bytes, i + 1) << 8) |
        (byteAt(bytes, i + 2) << 16) |
        (byteAt(bytes, i + 3) << 24),
    );
    if (i + 4 > bytes.length) break;
    hash = (hash << 13) | (hash >>> 19);
    hash = Math.imul(hash, 5) + 0xe6546b64;
  }
  hash ^= bytes.length;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

function scramble(block: number): number {
  const mixed = Math.imul(block, 0xcc9e2d51);
  return Math.imul((mixed << 15) | (mixed >>> 17), 0x1b873593);
}

function byteAt(bytes: Uint8Array, index: number): number {
  return bytes[index] ?? 0;
}
