import { z } from '@hono/zod-openapi';
import type { OpenApiDocument } from '../../http/docs/openapi-document.ts';
import { SESSION_COOKIE } from '../people/session-cookie.ts';
import { describeErrors, SECURITY } from './describe-operation.ts';
import type { ManagementApp } from './environment.ts';
import { describeEvaluation, SERVICE_KEY_SCHEME } from './evaluation-operations.ts';

/** Where the document is served; it needs no token. */
export const OPENAPI_PATH = '/api/openapi.json';

/** Mounts the OpenAPI document of everything that is mounted before it is first asked for, and of `/v1`. */
export function mountOpenApi(app: ManagementApp, version: string): void {
  const registry = app.openAPIRegistry;
  registry.registerComponent('securitySchemes', SECURITY.accessToken, { type: 'http', scheme: 'bearer' });
  registry.registerComponent('securitySchemes', SECURITY.session, {
    ...{ type: 'apiKey', in: 'cookie', name: SESSION_COOKIE },
    description:
      `The session of somebody who signed in; over HTTPS the cookie is named \`__Host-${SESSION_COOKIE}\`. ` +
      'Whatever changes something must come from a page of this server, with a body that says it is JSON.',
  });
  registry.registerComponent('securitySchemes', SECURITY.serviceKey, SERVICE_KEY_SCHEME);
  registry.registerPath({
    method: 'get',
    path: OPENAPI_PATH,
    operationId: 'getOpenApiDocument',
    summary: 'This document',
    tags: ['About'],
    security: [],
    responses: {
      200: { description: 'OpenAPI 3.1.', content: { 'application/json': { schema: z.looseObject({}) } } },
      ...describeErrors(['internal_error']),
    },
  });
  describeEvaluation(app);
  let document: string | undefined;
  app.get(OPENAPI_PATH, (c) => {
    document ??= JSON.stringify(openApiDocument(app, version));
    return c.body(document, 200, { 'Content-Type': 'application/json' });
  });
}

/** The OpenAPI document of everything that is mounted by now, as plain data. */
export function openApiDocument(app: ManagementApp, version: string): OpenApiDocument {
  const document = app.getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title: 'Halyard',
      version,
      description: 'Reading feature flags (`/v1`) and managing them (`/api`).',
      license: { name: 'MIT', url: 'https://opensource.org/license/mit' },
    },
    servers: [{ url: '/' }],
  });
  // `OpenApiDocument`: our own schemas and operations use nothing beyond what that type names.
  return JSON.parse(JSON.stringify(document)) as OpenApiDocument;
}
