/** A message that a receiver got. */
export interface ReceivedMessage {
  readonly headers: Record<string, string>;
  readonly body: string;
}

type Answer = () => Response | Promise<Response>;

/** A receiver of webhooks in the tests' own process, with a path for each test. */
export class Receiver {
  readonly #messages = new Map<string, ReceivedMessage[]>();
  readonly #answers = new Map<string, { readonly answer: Answer; readonly arrived: () => void }>();
  readonly #server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    fetch: async (request) => {
      const path = new URL(request.url).pathname.slice(1);
      this.messages(path).push({ headers: Object.fromEntries(request.headers), body: await request.text() });
      const { answer, arrived } = this.#answers.get(path) ?? {};
      arrived?.();
      return (await answer?.()) ?? new Response();
    },
  });

  /** Its address without a path. */
  get origin(): string {
    return this.#server.url.origin;
  }

  url(path: string): string {
    return `${this.origin}/${path}`;
  }

  /** What has arrived at a path, in order. */
  messages(path: string): ReceivedMessage[] {
    const messages = this.#messages.get(path) ?? [];
    this.#messages.set(path, messages);
    return messages;
  }

  /** Sets how a path answers from now on. `arrived` resolves when the next message arrives there. */
  answer(path: string, answer: Answer): { readonly arrived: Promise<void> } {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#answers.set(path, { answer, arrived: resolve });
    return { arrived: promise };
  }

  /** Every path answers 200 again. */
  forgetAnswers(): void {
    this.#answers.clear();
  }

  stop(): void {
    void this.#server.stop(true);
  }
}
