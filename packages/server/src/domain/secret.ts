import { timingSafeEqual } from 'node:crypto';

/** SHA-256 of a secret, in hexadecimal: what is stored and looked up instead of the secret itself. */
export function digestOf(secret: string): string {
  return Bun.SHA256.hash(secret, 'hex');
}

/** Whether two secrets are equal; the time taken does not reveal where they differ. */
export function isSameSecret(a: string, b: string): boolean {
  return timingSafeEqual(Buffer.from(digestOf(a), 'hex'), Buffer.from(digestOf(b), 'hex'));
}
