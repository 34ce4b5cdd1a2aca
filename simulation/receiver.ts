import { type GuardedPost, type PostAnswer, PostError } from '../packages/server/src/http/guarded-post.ts';
import type { Chance } from './chance.ts';
import { type Kernel, Owner } from './kernel.ts';

/** How long a node waits for a receiver, as the product does. */
const WHOLE_MS = 10_000;

/** A message at its receiver. */
export interface Arrival {
  /** The number of the change. */
  readonly seq: number;
  readonly isTaken: boolean;
}

/** A message that a node sends, until it has the answer or gives up. */
interface Sending {
  readonly owner: Owner;
  readonly at: number;
}

/** The receiver of a webhook: it is slow or out of order at times, and messages and answers get lost. */
export class WebhookReceiver {
  readonly arrivals: Arrival[] = [];
  /** The probability that something is wrong with a message. */
  trouble = 0;
  /** Told of two nodes that send at once. */
  readonly #onOverlap: (story: string) => void;
  readonly #kernel: Kernel;
  readonly #chance: Chance;
  readonly #owner = new Owner('receiver', 0);
  readonly #sending = new Set<Sending>();

  constructor(kernel: Kernel, chance: Chance, onOverlap: (story: string) => void) {
    this.#kernel = kernel;
    this.#chance = chance;
    this.#onOverlap = onOverlap;
  }

  problemOf(): undefined {
    return undefined;
  }

  send({ body, signal }: GuardedPost): Promise<PostAnswer> {
    const [kernel, chance] = [this.#kernel, this.#chance];
    const { owner } = kernel;
    this.#checkAlone(owner);
    const sending: Sending = { owner, at: kernel.now };
    this.#sending.add(sending);

    const { promise, resolve, reject } = Promise.withResolvers<PostAnswer>();
    const fail = (why: string) => reject(new PostError(why));
    signal?.addEventListener('abort', () => fail('it was ended early'));
    kernel.after(WHOLE_MS, () => fail('the receiver did not answer in time'));

    const fate = chance.happens(this.trouble)
      ? chance.pick(['refused', 'lost', 'answer lost', 'slow'] as const)
      : 'taken';
    const backMs = fate === 'slow' ? chance.between(3_000, 12_000) : chance.between(1, 40);
    const status = fate === 'refused' ? 500 : 200;
    kernel.after(
      chance.between(1, 40),
      () => {
        if (fate === 'lost') return;
        this.arrivals.push({ seq: seqIn(body), isTaken: status === 200 });
        if (fate === 'answer lost') return;
        kernel.after(backMs, () => resolve({ status, beginning: '' }), owner);
      },
      this.#owner,
    );
    return promise.finally(() => this.#sending.delete(sending));
  }

  /** One node sends at a time: an attempt takes no longer than its lease, unless its process stands still. */
  #checkAlone(owner: Owner): void {
    for (const other of this.#sending) {
      if (other.owner === owner || !other.owner.isAlive || other.owner.pausedUntil > other.at) continue;
      this.#onOverlap(`${owner.name} and ${other.owner.name} send at once`);
    }
  }
}

function seqIn(body: string): number {
  const { data } = JSON.parse(body) as { readonly data: { readonly seq: number } };
  return data.seq;
}
