/** How long a session lasts, in milliseconds: without being used, and whatever happens. */
export const SESSION_LIFETIME = { idleMs: 12 * 3_600_000, absoluteMs: 7 * 86_400_000 } as const;

/** A person's sign-in from one browser. Its id is the secret in the cookie; only the digest is kept. */
export interface Session {
  readonly digest: string;
  readonly operatorId: string;
  /** Epoch milliseconds, as are all times here. */
  readonly createdAt: number;
  /** Exact to a minute. */
  readonly lastUsedAt: number;
}

/** When the session ends if it is not used again. Epoch milliseconds. */
export function sessionEnd({ createdAt, lastUsedAt }: Session): number {
  return Math.min(lastUsedAt + SESSION_LIFETIME.idleMs, createdAt + SESSION_LIFETIME.absoluteMs);
}
