import type { Logger } from 'pino';
import { pathOf } from '../request.ts';
import type { OpenApiDocument } from './api-reference.ts';

/** The parts of the server that the documentation needs. */
export interface DocsOptions {
  /** Where the documentation is reached from outside, without a slash at its end; goes into error bodies. */
  readonly docsUrl: string;
  readonly log: Logger;
  /** The OpenAPI document, for the reference page; absent on a node without management. */
  readonly openApi?: () => Promise<OpenApiDocument>;
}

/** Answers a request for a page; `undefined` when the path is not the documentation's. */
export type DocsHandler = (request: Request) => Promise<Response> | undefined;

/**
 * Creates the handler of everything under `/docs`: pages as HTML, or as JSON where the request accepts that and not
 * HTML. Needs no credentials. Answers `not_found` for a page that does not exist and `method_not_allowed` for
 * anything but GET and HEAD. (Spec: S7.3)
 */
export function createDocs(options: DocsOptions): DocsHandler {
  // Half a megabyte of pages, which the first flags need not wait for.
  const answers = async () => (await import('./answers.ts')).docsAnswers(options);
  let loaded: ReturnType<typeof answers> | undefined;

  return (request) => {
    const path = pathOf(request);
    if (path !== '/docs' && !path.startsWith('/docs/')) return undefined;
    loaded ??= answers();
    return loaded.then((answer) => answer(request));
  };
}
