/** Buckets a rollout is divided into: a thousandth of a per cent each. */
export const ROLLOUT_BUCKETS = 100_000;

const encoder = new TextEncoder();

/**
 * The bucket, 0 to 99,999, of a targeting key for a flag: murmur3-32 with seed 0 of the UTF-8 bytes of
 * `flagKey:targetingKey`, scaled. The environment takes no part, so staging rehearses production.
 */
export function rolloutBucket(flagKey: string, targetingKey: string): number {
  return Math.floor((murmur3(encoder.encode(`${flagKey}:${targetingKey}`)) * ROLLOUT_BUCKETS) / 2 ** 32);
}

/** Whether a targeting key is inside a rollout of `rolloutPct` per cent. 0 excludes everyone, 100 or absent includes everyone. */
export function isInRollout(flagKey: string, targetingKey: string, rolloutPct = 100): boolean {
  return rolloutBucket(flagKey, targetingKey) < Math.round(rolloutPct * 1000);
}

/** MurmurHash3, x86, 32 bits, seed 0, of bytes; an unsigned number. */
export function murmur3(bytes: Uint8Array): number {
  let hash = 0;
  let block = 0;
  for (let i = 0; i < bytes.length; ) {
    block |= (bytes[i] as number) << (i * 8); // a shift counts modulo 32, so each byte of four has its place
    const isFull = ++i % 4 === 0;
    if (isFull || i === bytes.length) {
      block = Math.imul(block, 0xcc9e2d51);
      hash ^= Math.imul((block << 15) | (block >>> 17), 0x1b873593);
      block = 0;
    }
    // The last block may be cut short, and then it is not mixed.
    if (isFull) hash = Math.imul((hash << 13) | (hash >>> 19), 5) + 0xe6546b64;
  }
  hash ^= bytes.length;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
