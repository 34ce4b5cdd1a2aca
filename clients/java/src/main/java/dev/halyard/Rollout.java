package dev.halyard;

/** Whom a partial rollout is on for: the same answer in every language. (Contract: C4.1) */
final class Rollout {
  private int hash;
  private int block;
  private int length;

  private Rollout() {}

  /** Whether a targeting key is inside a rollout of {@code rolloutPct} per cent. */
  static boolean includes(String flagKey, String targetingKey, double rolloutPct) {
    return bucket(flagKey, targetingKey) < Math.round(rolloutPct * 1000);
  }

  /** The bucket, 0 to 99,999, of a targeting key for a flag. */
  static long bucket(String flagKey, String targetingKey) {
    Rollout murmur = new Rollout();
    murmur.addText(flagKey);
    murmur.add(':');
    murmur.addText(targetingKey);
    return Integer.toUnsignedLong(murmur.finish()) * 100_000 >>> 32;
  }

  /** MurmurHash3, x86, 32 bits, seed 0, of the UTF-8 bytes of a text. */
  static int murmur3(String text) {
    Rollout murmur = new Rollout();
    murmur.addText(text);
    return murmur.finish();
  }

  /** Adds a text without a copy of it. Half of a surrogate pair counts as U+FFFD. (C4.5) */
  private void addText(String text) {
    for (int i = 0; i < text.length(); i++) {
      int c = text.codePointAt(i);
      if (c > 0xFFFF) i++;
      else if (Character.isSurrogate((char) c)) c = 0xFFFD;

      if (c < 0x80) {
        add(c);
        continue;
      }
      if (c < 0x800) {
        add(0xC0 | c >> 6);
      } else {
        if (c < 0x10000) {
          add(0xE0 | c >> 12);
        } else {
          add(0xF0 | c >> 18);
          add(0x80 | c >> 12 & 0x3F);
        }
        add(0x80 | c >> 6 & 0x3F);
      }
      add(0x80 | c & 0x3F);
    }
  }

  private void add(int unsignedByte) {
    block |= unsignedByte << length * 8; // a shift counts modulo 32, so each byte of four has its place
    if (++length % 4 != 0) return;
    mixBlock();
    hash = Integer.rotateLeft(hash, 13) * 5 + 0xe6546b64;
  }

  private void mixBlock() {
    hash ^= Integer.rotateLeft(block * 0xcc9e2d51, 15) * 0x1b873593;
    block = 0;
  }

  private int finish() {
    mixBlock();
    hash ^= length;
    hash = (hash ^ hash >>> 16) * 0x85ebca6b;
    hash = (hash ^ hash >>> 13) * 0xc2b2ae35;
    return hash ^ hash >>> 16;
  }
}
