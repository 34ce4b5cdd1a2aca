import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Server } from 'bun';
import type { OpenApiDocument } from '../http/docs/api-reference.ts';
import type { Fallback } from '../http/listeners.ts';
import { pathOf } from '../http/request.ts';
import type { ManagementApi, ManagementAppOptions } from './app.ts';

/**
 * The management API, loaded when it is first needed: it is most of the program's code, and a node that starts
 * serves reads before it has read all of that, which takes about 0.1 s (bench/start.ts).
 */
export class LazyManagementApp {
  readonly #options: ManagementAppOptions;
  #loading: Promise<ManagementApi> | undefined;
  #lastTurn: Promise<void> = Promise.resolve();

  constructor(options: ManagementAppOptions) {
    this.#options = options;
  }

  /** Loads it, once. After a failure the next call tries again. */
  load(): Promise<ManagementApi> {
    this.#loading ??= this.#load().catch((error: unknown) => {
      this.#loading = undefined;
      throw error;
    });
    return this.#loading;
  }

  /** Answers requests under `/api`. */
  readonly answer: Fallback = (request, server) => {
    const path = pathOf(request);
    if (path !== '/api' && !path.startsWith('/api/')) return undefined;
    return this.#answerInTurn(request, server);
  };

  /**
   * Starts each request in its own turn of the event loop. The loop serves new connections first: without this,
   * requests on fresh connections starved the others for as long as they came
   * (fairness.test.ts: 2 to 31 reads during 300 writes; with all requests of a turn begun at once 37, in turns 292).
   */
  async #answerInTurn(request: Request, server: Server<undefined>): Promise<Response> {
    const turn = this.#lastTurn.then(() => nextTurn());
    this.#lastTurn = turn;
    await turn;
    const { answer } = await this.load();
    return answer(request, server);
  }

  /** The OpenAPI document of it and of `/v1`. */
  async openApi(): Promise<OpenApiDocument> {
    const [{ app }, { openApiDocument }] = await Promise.all([this.load(), import('./openapi.ts')]);
    return openApiDocument(app, this.#options.version);
  }

  /** In parts, each in a turn of its own: all at once kept reads waiting for 70 ms after the start. */
  async #load(): Promise<ManagementApi> {
    await import('zod');
    await nextTurn();
    const { createManagementApp } = await import('./app.ts');
    await nextTurn();
    return createManagementApp(this.#options);
  }
}
