import { OpenApiGeneratorV31 } from '@asteasolutions/zod-to-openapi';
import type { OpenApiDocument } from '../http/docs/api-reference.ts';
import { compressAnswer } from '../management/api/compressed-answer.ts';
import { describeErrors, SECURITY } from '../management/api/described-operation.ts';
import type { ManagementApp } from '../management/api/management-app.ts';
import { z } from '../management/api/zod.ts';
import { SESSION_COOKIE } from '../nouns/people/sessions.ts';
import { OFREP_OPERATIONS } from './ofrep-operations.ts';
import { KEY_SCHEMES, V1_OPERATIONS } from './v1-operations.ts';

/** Where the document is served; it needs no token. */
export const OPENAPI_PATH = '/api/openapi.json';

/** Mounts the OpenAPI document of everything that is mounted before it is first asked for, of `/v1` and of OFREP. */
export function mountOpenApi(app: ManagementApp, version: string): void {
  const registry = app.openAPIRegistry;

  registry.registerComponent('securitySchemes', SECURITY.accessToken, { type: 'http', scheme: 'bearer' });
  registry.registerComponent('securitySchemes', SECURITY.session, {
    type: 'apiKey',
    in: 'cookie',
    name: SESSION_COOKIE,
    description:
      `The session of a signed-in operator; over HTTPS the cookie is named \`__Host-${SESSION_COOKIE}\`. ` +
      'Requests that change something must come from a page of this server, with a JSON content type.',
  });
  for (const [name, scheme] of Object.entries(KEY_SCHEMES)) {
    registry.registerComponent('securitySchemes', name, scheme);
  }

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
  for (const operation of [...V1_OPERATIONS, ...OFREP_OPERATIONS]) registry.registerPath(operation);

  let document: string | undefined;
  app.add({
    method: 'GET',
    path: OPENAPI_PATH,
    answerAnyone: ({ raw }) => {
      document ??= JSON.stringify(openApiDocument(app, version));
      const headers = { 'Content-Type': 'application/json', 'Cache-Control': 'no-cache' };
      const answer = new Response(document, { headers });
      return compressAnswer(raw, answer);
    },
  });
}

/** The OpenAPI document of all operations mounted so far, as plain data. */
export function openApiDocument(app: ManagementApp, version: string): OpenApiDocument {
  const document = new OpenApiGeneratorV31(app.openAPIRegistry.definitions).generateDocument({
    openapi: '3.1.0',
    info: {
      title: 'Halyard',
      version,
      description: 'Read feature flags (`/v1`, or OFREP for OpenFeature) and manage them (`/api`).',
      license: { name: 'MIT', url: 'https://opensource.org/license/mit' },
    },
    servers: [{ url: '/' }],
  });
  for (const methods of Object.values(document.paths ?? {})) {
    for (const operation of Object.values(methods)) Object.assign(operation.responses, PARSER_REFUSALS);
  }
  // `OpenApiDocument`: our own schemas and operations use nothing beyond what that type names.
  return JSON.parse(JSON.stringify(document)) as OpenApiDocument;
}

/** Answers of the HTTP parser to requests that no operation gets. (Spec: S14.8) */
const PARSER_REFUSALS = {
  413: { description: 'The `Content-Length` is not a possible length. Without a body.' },
  431: { description: 'The path or the headers are longer than 16 KiB. Without a body.' },
};
