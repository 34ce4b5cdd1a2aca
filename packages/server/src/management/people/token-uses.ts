import type { ManagementContext } from '../context.ts';

/** How exact "last used" is, in milliseconds. */
const RESOLUTION_MS = 60_000;

/** Notes when access tokens were last used: in the background, and at most once a minute each. */
export class TokenUses {
  readonly #context: ManagementContext;
  readonly #onFailure: (error: unknown) => void;
  readonly #noted = new Map<string, number>();

  /** A use that cannot be written is dropped after `onFailure` has heard of it; the request goes on. */
  constructor(context: ManagementContext, onFailure: (error: unknown) => void) {
    this.#context = context;
    this.#onFailure = onFailure;
  }

  /** Notes that the token is used now. */
  note(id: string): void {
    const now = this.#context.now();
    if (now - (this.#noted.get(id) ?? Number.NEGATIVE_INFINITY) < RESOLUTION_MS) return;
    this.#noted.set(id, now);
    void this.#context.store.touchAccessTokens(new Map([[id, now]])).catch(this.#onFailure);
  }
}
