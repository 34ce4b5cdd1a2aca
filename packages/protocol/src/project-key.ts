/** The prefix of every project key. (Spec: S3.1) */
export const PROJECT_KEY_PREFIX = 'proj_live_';

/** The form of a whole project key; for secret scanners and command lines, never to answer differently. */
export const PROJECT_KEY_PATTERN = /proj_live_[0-9A-Za-z]{49}/;

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const SECRET_LENGTH = 43;
const CHECKSUM_LENGTH = 6;

/**
 * Builds a project key from 32 random bytes: the prefix, 43 base62 characters and 6 characters of checksum.
 * Pure: the same bytes give the same key.
 */
export function formatProjectKey(random: Uint8Array): string {
  const body = PROJECT_KEY_PREFIX + formatSecret(random);
  return body + checksum(body);
}

/** 43 base62 characters out of 32 random bytes: the secret part of keys and tokens. Pure. */
export function formatSecret(random: Uint8Array): string {
  if (random.length !== 32) throw new RangeError(`a secret is made of 32 random bytes, not ${random.length}`);
  let number = 0n;
  for (const byte of random) number = (number << 8n) | BigInt(byte);
  return base62(number, SECRET_LENGTH);
}

/** Whether the key's checksum fits, so that a command line can point out a typing mistake. */
export function hasValidChecksum(key: string): boolean {
  if (!new RegExp(`^${PROJECT_KEY_PATTERN.source}$`).test(key)) return false;
  return checksum(key.slice(0, -CHECKSUM_LENGTH)) === key.slice(-CHECKSUM_LENGTH);
}

function checksum(body: string): string {
  return base62(BigInt(crc32(body)), CHECKSUM_LENGTH);
}

function base62(number: bigint, length: number): string {
  let text = '';
  for (let rest = number; text.length < length; rest /= 62n) text = ALPHABET[Number(rest % 62n)] + text;
  return text;
}

function crc32(ascii: string): number {
  let crc = 0xffffffff;
  for (let i = 0; i < ascii.length; i++) {
    crc ^= ascii.charCodeAt(i);
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return (crc ^ 0xffffffff) >>> 0;
}
