import type { OpenApiDocument } from '../../http/docs/openapi-document.ts';
import type { Fallback } from '../../http/listener.ts';
import type { ManagementAppOptions } from './app.ts';
import type { ManagementApp } from './environment.ts';

/**
 * The management interface, loaded when it is first needed: it is most of the program's code, and a node that starts
 * serves reads before it has read all of that, which takes about 0.1 s (bench/start.ts).
 */
export class LazyManagementApp {
  readonly #options: ManagementAppOptions;
  #loading: Promise<ManagementApp> | undefined;

  constructor(options: ManagementAppOptions) {
    this.#options = options;
  }

  /** Loads it, once. */
  load(): Promise<ManagementApp> {
    this.#loading ??= this.#load();
    return this.#loading;
  }

  /** Answers what is under `/api`. */
  readonly answer: Fallback = (request, server) => {
    const { pathname } = new URL(request.url);
    if (pathname !== '/api' && !pathname.startsWith('/api/')) return undefined;
    return this.load().then((app) => app.fetch(request, { server }));
  };

  /** The OpenAPI document of it and of `/v1`. */
  async openApi(): Promise<OpenApiDocument> {
    const [app, { openApiDocument }] = await Promise.all([this.load(), import('./openapi.ts')]);
    return openApiDocument(app, this.#options.version);
  }

  async #load(): Promise<ManagementApp> {
    const { createManagementApp } = await import('./app.ts');
    return createManagementApp(this.#options);
  }
}
