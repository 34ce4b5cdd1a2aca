/**
 * What a person wants where other people must approve a change: to propose it, to propose it and choose the moment later
 * (`hold`), or to make it at once, in an emergency. (Spec: S20.2, S20.5)
 */
export type Wish = 'propose' | 'hold' | 'emergency';

/** A reason, and what to send instead of the change. */
export interface Wanted {
  readonly note: string | undefined;
  readonly wish?: Wish | undefined;
}

/** What the screen does about changes that need approval, or a reason. */
interface Approvals {
  /** Asks what to do about a change that the server refused, because it needs approval by now; `undefined`: nothing. */
  readonly ask: () => Promise<Wanted | undefined>;
  /** Asks for the reason of a change that the server refused for lack of one; `undefined`: nothing. */
  readonly askReason: () => Promise<Wanted | undefined>;
  /** Shows that a change was proposed. `text` is the proposal. */
  readonly proposed: (text: string) => void;
}

let approvals: Approvals | undefined;

/** Sets what the screen does. Returns the function that ends it. */
export function onApprovals(next: Approvals): () => void {
  approvals = next;
  return () => {
    approvals = undefined;
  };
}

/** What the screen does about changes that need approval, or a reason. */
export function currentApprovals(): Approvals | undefined {
  return approvals;
}

/** An address with the wish in its query. */
export function withWish(path: string, wish: Wish | undefined): string {
  if (wish === undefined) return path;
  const query = wish === 'emergency' ? 'emergency=true' : `propose=${wish === 'hold' ? wish : true}`;
  return `${path}${path.includes('?') ? '&' : '?'}${query}`;
}
