import type { RouteConfig } from '@asteasolutions/zod-to-openapi';
import { ENVIRONMENT_HEADER, ERROR_STATUS, OFREP_ERROR_STATUS } from '@halyard/protocol';
import { contentOf } from '../management/api/described-operation.ts';
import { ErrorBodySchema, NameSchema } from '../management/api/schemas.ts';
import { z } from '../management/api/zod.ts';
import { anyKeyHeader, notModified, READ_ERRORS, revisionHeaders, taggedHeaders } from './v1-operations.ts';

const flagKey = z.string().openapi({ description: 'The key of the flag.' });

const RequestSchema = z
  .looseObject({
    context: z
      .looseObject({
        targetingKey: z.union([z.string(), z.number()]).nullish().openapi({
          description:
            'Who or what the flags are for: decides partial rollouts. A number counts as its text. The rest of the context is ignored.',
        }),
      })
      .nullish(),
  })
  .openapi('OfrepRequest');

const MetadataSchema = z
  .object({ environment: NameSchema, enabled: z.boolean(), rolloutPct: z.number().optional() })
  .openapi('OfrepMetadata');

const SuccessSchema = z
  .object({
    key: flagKey,
    value: z
      .unknown()
      .optional()
      .openapi({ description: "Absent: the default in the caller's code counts." }),
    reason: z.enum(['STATIC', 'SPLIT', 'DISABLED']),
    variant: z.enum(['on', 'off']),
    metadata: MetadataSchema,
  })
  .openapi('OfrepSuccess');

const errorCode = z.enum(Object.keys(OFREP_ERROR_STATUS));

const FailureSchema = z
  .object({ key: flagKey, errorCode, errorDetails: z.string(), metadata: MetadataSchema.optional() })
  .openapi('OfrepFailure');

const BulkSchema = z
  .object({
    flags: z.array(z.union([SuccessSchema, FailureSchema])),
    metadata: z.object({ environment: NameSchema, revision: z.number() }),
    eventStreams: z
      .array(z.object({ type: z.literal('sse'), endpoint: z.object({ requestUri: z.string() }) }))
      .openapi({ description: 'Where to listen for changes. The address is a secret: it opens the stream.' }),
  })
  .openapi('OfrepBulk');

const ErrorSchema = FailureSchema.partial({ key: true })
  .extend(ErrorBodySchema.partial().shape)
  .openapi('ErrorOfOfrep', {
    description: 'What does not concern a flag or the context also has the members of every other error.',
  });

const ManifestSchema = z
  .object({
    flags: z.array(
      z.object({
        key: flagKey,
        type: z.enum(['boolean', 'string', 'integer', 'float', 'object']),
        defaultValue: z.unknown(),
      }),
    ),
  })
  .openapi('Manifest');

const ManifestErrorSchema = z
  .object({
    error: z.object({ message: z.string(), status: z.number(), code: z.string(), docs: z.string() }),
  })
  .openapi('ErrorOfManifest');

/** Error answers by status, with bodies of another protocol. */
function refusals(
  schema: z.ZodType,
  described: Readonly<Record<number, string>> = {},
): RouteConfig['responses'] {
  const byCode = READ_ERRORS.map((code) => [ERROR_STATUS[code], `\`${code}\``] as const);
  return Object.fromEntries(
    [...byCode, ...Object.entries(described)].map(([status, description]) => [
      status,
      { description, content: contentOf(schema) },
    ]),
  );
}

const namingHeader = z.object({
  [ENVIRONMENT_HEADER]: z.string().optional().openapi({
    description: 'The environment to read. A key that opens only one needs no name.',
  }),
});

const common = { tags: ['OFREP'], security: anyKeyHeader };

/** OpenFeature's operations, which are served elsewhere: each with the environment in a header, and in the address. (Spec: S15) */
export const OFREP_OPERATIONS: readonly RouteConfig[] = [
  ...bothWays({
    ...common,
    method: 'post',
    path: '/ofrep/v1/evaluate/flags/{key}',
    operationId: 'evaluateFlag',
    summary: 'Evaluate one flag (OFREP)',
    request: {
      params: z.object({ key: flagKey }),
      body: { required: true, content: contentOf(RequestSchema) },
    },
    responses: {
      200: {
        description: 'The flag was evaluated.',
        headers: revisionHeaders,
        content: contentOf(SuccessSchema),
      },
      ...refusals(ErrorSchema, {
        400: '`PARSE_ERROR`, `INVALID_CONTEXT`, `TARGETING_KEY_MISSING` or `GENERAL`: no environment is named',
        404: '`FLAG_NOT_FOUND`, or `environment_not_found`',
      }),
    },
  }),
  ...bothWays({
    ...common,
    method: 'post',
    path: '/ofrep/v1/evaluate/flags',
    operationId: 'evaluateFlags',
    summary: 'Evaluate all flags (OFREP)',
    request: {
      query: z.object({
        flagConfigEtag: z
          .string()
          .optional()
          .openapi({ description: 'The `etag` of an event: the answer is at least as new.' }),
        flagConfigLastModified: z.string().optional().openapi({ description: 'Ignored.' }),
      }),
      body: { required: true, content: contentOf(RequestSchema) },
    },
    responses: {
      200: {
        description: 'Every flag, or why it could not be evaluated.',
        headers: taggedHeaders,
        content: contentOf(BulkSchema),
      },
      ...notModified,
      ...refusals(ErrorSchema, {
        400: '`PARSE_ERROR`, `INVALID_CONTEXT` or `GENERAL`: no environment is named',
      }),
    },
  }),
  ...bothWays(
    {
      ...common,
      security: [],
      method: 'get',
      path: '/ofrep/v1/stream',
      operationId: 'streamChanges',
      summary: 'Stream an event for each change (OFREP); the ticket opens it',
      request: { query: z.object({ ticket: z.string(), lastEventId: z.string().optional() }) },
      responses: {
        200: {
          description: 'Events `{"type": "refetchEvaluation", "etag": string}`.',
          content: { 'text/event-stream': { schema: z.string() } },
        },
        ...refusals(ErrorSchema),
      },
    },
    null,
  ),
  ...bothWays({
    ...common,
    method: 'get',
    path: '/openfeature/v0/manifest',
    operationId: 'readManifest',
    summary: "List the flags with their types, for OpenFeature's CLI",
    responses: {
      200: { description: 'The manifest.', headers: taggedHeaders, content: contentOf(ManifestSchema) },
      ...notModified,
      ...refusals(ManifestErrorSchema),
    },
  }),
];

/** An operation with the environment in a header, and the same one with it in the address. */
function bothWays(
  operation: RouteConfig & { readonly operationId: string },
  headers: z.ZodObject | null = namingHeader,
): readonly RouteConfig[] {
  const { path, request = {}, operationId } = operation;
  const environment = NameSchema.openapi({ description: 'The environment to read.' });
  return [
    { ...operation, request: { ...request, ...(headers && { headers }) } },
    {
      ...operation,
      path: `/environments/{environment}${path}`,
      operationId: `${operationId}InEnvironment`,
      request: {
        ...request,
        params: z.object({ environment, ...(path.includes('{key}') && { key: flagKey }) }),
      },
    },
  ];
}
