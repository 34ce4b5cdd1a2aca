import { MAX_BATCH_KEYS, REVISION_HEADER, SERVICE_KEY_HEADER } from '@halyard/protocol';
import { type RouteConfig, z } from '@hono/zod-openapi';
import type { OpenApiDocument } from '../../http/docs/api-reference.ts';
import { SESSION_COOKIE } from '../people/sessions.ts';
import { describeErrors, type ManagementApp, SECURITY } from './operation.ts';
import { FlagKeySchema, FlagStateSchema, NameSchema } from './schemas.ts';

/** Where the document is served; it needs no token. */
export const OPENAPI_PATH = '/api/openapi.json';

/** Mounts the OpenAPI document of everything that is mounted before it is first asked for, and of `/v1`. */
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

/** The OpenAPI document of all operations mounted so far, as plain data. */
export function openApiDocument(app: ManagementApp, version: string): OpenApiDocument {
  const document = app.getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title: 'Halyard',
      version,
      description: 'Read feature flags (`/v1`) and manage them (`/api`).',
      license: { name: 'MIT', url: 'https://opensource.org/license/mit' },
    },
    servers: [{ url: '/' }],
  });
  // `OpenApiDocument`: our own schemas and operations use nothing beyond what that type names.
  return JSON.parse(JSON.stringify(document)) as OpenApiDocument;
}

const FlagMapSchema = z.record(FlagKeySchema, FlagStateSchema).openapi('FlagMap');
const FlagsSchema = z.object({ environment: NameSchema, flags: FlagMapSchema }).openapi('EnvironmentFlags');
const FlagSchema = FlagStateSchema.extend({ environment: NameSchema, key: z.string() }).openapi(
  'EvaluatedFlag',
);

const env = NameSchema.openapi({ description: 'The environment to read.' });
const json = <T extends z.ZodType>(schema: T) => ({ 'application/json': { schema } });
const common = { tags: ['Evaluation'], security: [{ [SECURITY.serviceKey]: [] }] };
const errors = describeErrors([
  'invalid_argument',
  'invalid_api_key',
  'environment_not_found',
  'rate_limited',
  'internal_error',
]);
const errorsOfOne = describeErrors([
  'invalid_argument',
  'invalid_api_key',
  'environment_not_found',
  'flag_not_found',
  'rate_limited',
  'internal_error',
]);
const headers = z.object({
  [REVISION_HEADER]: z.string().openapi({ description: 'The revision of the environment.' }),
  ETag: z.string(),
});
const notModified = { 304: { description: 'Not modified (`If-None-Match`).' } };

/** Describes the evaluation interface, which is served elsewhere. (Spec: Endpoints) */
export function describeEvaluation(app: ManagementApp): void {
  for (const operation of OPERATIONS) app.openAPIRegistry.registerPath(operation);
}

const OPERATIONS: readonly RouteConfig[] = [
  {
    ...common,
    method: 'get',
    path: '/v1/flags',
    operationId: 'readFlags',
    summary: 'Read all flags of an environment',
    request: { query: z.object({ env }) },
    responses: {
      200: { description: 'The flag map.', headers, content: json(FlagsSchema) },
      ...notModified,
      ...errors,
    },
  },
  {
    ...common,
    method: 'get',
    path: '/v1/flags/{key}',
    operationId: 'readFlag',
    summary: 'Read one flag',
    request: { params: z.object({ key: z.string() }), query: z.object({ env }) },
    responses: {
      200: { description: 'The flag.', headers, content: json(FlagSchema) },
      ...notModified,
      ...errorsOfOne,
    },
  },
  {
    ...common,
    method: 'post',
    path: '/v1/flags/batch',
    operationId: 'readSomeFlags',
    summary: 'Read several flags; keys that do not exist are omitted',
    request: {
      body: {
        required: true,
        content: json(z.object({ env, keys: z.array(z.string()).openapi({ maxItems: MAX_BATCH_KEYS }) })),
      },
    },
    responses: { 200: { description: 'The flags that exist.', content: json(FlagsSchema) }, ...errors },
  },
  {
    ...common,
    method: 'get',
    path: '/v1/stream',
    operationId: 'streamFlags',
    summary: 'Stream the flag map, now and after each change, as server-sent events',
    request: { query: z.object({ env }) },
    responses: {
      200: {
        description: 'Unnamed events `data: <flag map>`, the first one immediately.',
        content: { 'text/event-stream': { schema: z.string() } },
      },
      ...errors,
    },
  },
];

/** The header that carries the project key, as a security scheme. (Spec: Authentication 1) */
export const SERVICE_KEY_SCHEME = { type: 'apiKey', in: 'header', name: SERVICE_KEY_HEADER } as const;
