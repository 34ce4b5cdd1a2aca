import type { Server } from 'bun';

/** How long nobody must have asked before a node that stops counts as left alone, in milliseconds. */
const QUIET_MS = 100;

/** How often that is looked at, in milliseconds. */
const LOOK_MS = 20;

type Answer<R extends Request> = (request: R, server: Server<undefined>) => Response | Promise<Response>;

/**
 * The answers of a node that is about to stop. Each ends its connection, so that a client goes elsewhere instead of
 * sending its next request into a connection that is being closed, where it would be lost.
 */
export class LastAnswers {
  #lastAt = performance.now();

  /** The same answers, after which the connection is closed. */
  ending<R extends Request>(answer: Answer<R>) {
    return async (request: R, server: Server<undefined>): Promise<Response> => {
      this.#lastAt = performance.now();
      const response = await answer(request, server);
      response.headers.set('Connection', 'close');
      return response;
    };
  }

  /** Resolves once nobody has asked for a tenth of a second, at the latest after `windowMs`. */
  async untilQuiet(windowMs: number): Promise<void> {
    const until = performance.now() + windowMs;
    this.#lastAt = performance.now();
    for (;;) {
      const now = performance.now();
      if (now >= until || now - this.#lastAt >= QUIET_MS) return;
      await Bun.sleep(Math.min(LOOK_MS, until - now));
    }
  }
}
