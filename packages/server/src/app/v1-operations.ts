import type { RouteConfig } from '@asteasolutions/zod-to-openapi';
import {
  CHANGES_PARAMETER,
  MAX_BATCH_KEYS,
  MAX_USAGE_COUNT,
  MAX_USAGE_FLAGS,
  REVISION_HEADER,
  SERVICE_KEY_HEADER,
  USAGE_HEADER,
  USAGE_PATH,
} from '@halyard/protocol';
import { contentOf, describeErrors, SECURITY } from '../management/api/described-operation.ts';
import { FlagKeySchema, FlagStateSchema, NameSchema } from '../management/api/schemas.ts';
import { z } from '../management/api/zod.ts';
import { FlagdDocumentSchema, flagdQuery } from '../nouns/documents/document-schemas.ts';

/** The security schemes of project keys: `/v1` takes the first alone, OFREP and flagd's each of them. (Spec: S5.1, S15.2) */
export const KEY_SCHEMES = {
  [SECURITY.serviceKey]: { type: 'apiKey', in: 'header', name: SERVICE_KEY_HEADER },
  [SECURITY.apiKey]: {
    type: 'apiKey',
    in: 'header',
    name: 'X-API-Key',
    description: 'A project key, as many OpenFeature providers send it.',
  },
  [SECURITY.bearerKey]: {
    type: 'http',
    scheme: 'bearer',
    description: 'A project key, as many OpenFeature providers send it.',
  },
} as const;

const FlagMapSchema = z.record(FlagKeySchema, FlagStateSchema).openapi('FlagMap');
const FlagsSchema = z.object({ environment: NameSchema, flags: FlagMapSchema }).openapi('EnvironmentFlags');
// Not `extend`, which would describe it as a `FlagState`, whose other members are refused, and something else at once.
const FlagSchema = z
  .strictObject({ environment: NameSchema, key: z.string(), ...FlagStateSchema.shape })
  .openapi('EvaluatedFlag');

/** Errors of every operation with a project key. */
export const READ_ERRORS = [
  'invalid_argument',
  'invalid_api_key',
  'environment_not_found',
  'rate_limited',
  'internal_error',
] as const;

const env = NameSchema.openapi({ description: 'The environment to read.' });
const changes = z
  .literal('1')
  .optional()
  .openapi({ description: 'Asks for what each change sets and removes, instead of the whole map.' });
const common = { tags: ['Evaluation'], security: [{ [SECURITY.serviceKey]: [] }] };
const errors = describeErrors(READ_ERRORS);

/** The security of operations that take a project key in each of its headers. */
export const anyKeyHeader = Object.keys(KEY_SCHEMES).map((scheme) => ({ [scheme]: [] }));

/** The header of every answer with flags. */
export const revisionHeaders = z.object({
  [REVISION_HEADER]: z.string().openapi({ description: 'The revision of the environment.' }),
});

/** The headers of an answer that can be revalidated. */
export const taggedHeaders = revisionHeaders.extend({ ETag: z.string() });

const flagHeaders = taggedHeaders.extend({
  [USAGE_HEADER]: z
    .string()
    .optional()
    .openapi({
      description: `Present while the project wants reports (\`POST ${USAGE_PATH}\`): the seconds between two of them.`,
    }),
});

const Count = z.number().int().min(0).max(MAX_USAGE_COUNT).optional();
const UsageReportSchema = z
  .object({
    env,
    flags: z.record(FlagKeySchema, z.object({ on: Count, off: Count })).openapi({
      maxProperties: MAX_USAGE_FLAGS,
      description: 'How often each flag was read, by its result. Flags that do not exist are ignored.',
    }),
  })
  .openapi('UsageReport');

/** The answer to a reader who has the flags already. */
export const notModified = { 304: { description: 'Not modified (`If-None-Match`).' } };

/** The operations of `/v1`, flagd's and the reports beside it, which are served elsewhere. (Spec: S4, S17, S19) */
export const V1_OPERATIONS: readonly RouteConfig[] = [
  {
    ...common,
    method: 'get',
    path: '/v1/flags',
    operationId: 'readFlags',
    summary: 'Read all flags of an environment',
    request: { query: z.object({ env }) },
    responses: {
      200: { description: 'The flag map.', headers: flagHeaders, content: contentOf(FlagsSchema) },
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
      200: { description: 'The flag.', headers: flagHeaders, content: contentOf(FlagSchema) },
      ...notModified,
      ...describeErrors([...READ_ERRORS, 'flag_not_found']),
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
        content: contentOf(
          z.object({ env, keys: z.array(z.string()).openapi({ maxItems: MAX_BATCH_KEYS }) }),
        ),
      },
    },
    responses: { 200: { description: 'The flags that exist.', content: contentOf(FlagsSchema) }, ...errors },
  },
  {
    ...common,
    method: 'get',
    path: '/v1/stream',
    operationId: 'streamFlags',
    summary: 'Stream the flag map, now and after each change, as server-sent events',
    request: { query: z.object({ env, [CHANGES_PARAMETER]: changes }) },
    responses: {
      200: {
        description:
          'Unnamed events `data: <flag map>`, the first one immediately. With `changes=1`, events called `change` instead: ' +
          '`{"from", "to", "set", "removed"}`, revisions and what differs between them; `from` of the first one is `null`, and its ' +
          '`set` the whole map.',
        content: { 'text/event-stream': { schema: z.string() } },
      },
      ...errors,
    },
  },
  {
    tags: ['flagd'],
    security: anyKeyHeader,
    method: 'get',
    path: '/flagd/v1/flags.json',
    operationId: 'readFlagsForFlagd',
    summary: 'Read all flags of an environment in the format of flagd',
    request: { query: z.object({ env, ...flagdQuery }) },
    responses: {
      200: { description: 'The flags.', headers: taggedHeaders, content: contentOf(FlagdDocumentSchema) },
      ...notModified,
      ...errors,
    },
  },
  {
    ...common,
    method: 'post',
    path: USAGE_PATH,
    operationId: 'reportUsage',
    summary: 'Report how often flags were read; only for projects that want it',
    request: { body: { required: true, content: contentOf(UsageReportSchema) } },
    responses: {
      204: { description: 'The reads are counted.' },
      ...describeErrors([...READ_ERRORS, 'not_found']),
    },
  },
];
