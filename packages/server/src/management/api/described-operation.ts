import type { RouteConfig } from '@asteasolutions/zod-to-openapi';
import { ERROR_STATUS, type ErrorCode, type Role } from '@halyard/protocol';
import type { Scope } from '../rights.ts';
import type { AnyOperation } from './operation.ts';
import { wishQuery } from './proposal-desk.ts';
import { ProposalSchema } from './proposal-schemas.ts';
import { ErrorBodySchema } from './schemas.ts';
import { z } from './zod.ts';

/** Names of the security schemes in the OpenAPI document. */
export const SECURITY = {
  accessToken: 'accessToken',
  session: 'session',
  serviceKey: 'serviceKey',
  apiKey: 'apiKey',
  bearerKey: 'bearerKey',
} as const;

/** The documented part of an operation; `anyone` requires no authentication. */
export interface DescribedOperation extends Omit<AnyOperation, 'role'> {
  readonly tag: string;
  readonly role: Role | 'anyone';
  readonly scope: Scope;
}

/** Conditions of a write: `*`, or revisions as entity tags. */
const CONDITION_PATTERNS: Readonly<Record<string, string>> = {
  'If-Match': String.raw`^(\*|(W/)?"\d{1,15}"(\s*,\s*(W/)?"\d{1,15}")*)$`,
  'If-None-Match': String.raw`^\*$`,
};

const HEADERS = {
  'If-Match': 'Only if the revision is still this one, as in `"12"`; `*`: only if it exists.',
  'If-None-Match': '`*`: only if it does not exist yet.',
  'X-Confirm-Environment':
    'The protected environments that this request may change, separated by commas. Required of signed-in operators, ' +
    'not of access tokens.',
  'X-Change-Note': 'The reason for the change; kept in the audit log.',
  'X-Change-Reference':
    "The caller's own name for this request, such as a UUID: 8 to 64 letters, digits, `.`, `_`, `:` and `-`. If the answer " +
    'is lost, `GET /api/changes` says by it what the request changed.',
} as const;

/** The OpenAPI description of a management operation. */
export function describeOperation(operation: DescribedOperation): RouteConfig {
  const { method, path, id, tag, role, scope, summary, body, answer } = operation;
  return {
    method,
    path,
    operationId: id,
    summary,
    description: roleNeeded(operation),
    'x-role': role,
    'x-scope': scope,
    ...(operation.setsStates && { 'x-sets-states': true }),
    ...(operation.readsAudit && { 'x-reads-audit': true }),
    tags: [tag],
    security: role === 'anyone' ? [] : [{ [SECURITY.accessToken]: [] }, { [SECURITY.session]: [] }],
    request: {
      ...(path.includes('{') ? { params: paramsOf(path) } : {}),
      ...queryOf(operation),
      headers: headersOf(operation),
      ...(body && { body: { required: true, content: contentOf(body.schema, body.mediaTypes) } }),
    },
    responses: {
      [answer.status ?? 200]: {
        description: answer.description,
        ...(answer.schema && { content: contentOf(answer.schema, answer.mediaTypes) }),
        ...(answer.tagOf && {
          headers: z.object({ ETag: z.string().openapi({ description: answer.tagOf }) }),
        }),
      },
      ...(operation.needsApproval && {
        202: { description: 'The proposal, if it was asked for.', content: contentOf(ProposalSchema) },
      }),
      ...describeErrors(errorsOf(operation)),
    },
  };
}

function queryOf({ query, needsApproval }: DescribedOperation): { readonly query?: z.ZodObject } {
  // `ZodObject`: all our queries are; the type only describes their result.
  const own = query as unknown as z.ZodObject | undefined;
  if (needsApproval !== true) return own === undefined ? {} : { query: own };
  return { query: own === undefined ? z.strictObject(wishQuery) : own.extend(wishQuery) };
}

/** The error answers of an operation, by status. */
export function describeErrors(codes: readonly ErrorCode[]): RouteConfig['responses'] {
  const byStatus = Map.groupBy(codes, (code) => ERROR_STATUS[code]);
  return Object.fromEntries(
    [...byStatus].map(([status, some]) => [
      status,
      { description: some.map((code) => `\`${code}\``).join(' or '), content: contentOf(ErrorBodySchema) },
    ]),
  );
}

function errorsOf(operation: DescribedOperation): readonly ErrorCode[] {
  const { method, path, query, body, role, scope, errors = [] } = operation;
  const isRead = method === 'get';
  const isPublic = role === 'anyone';
  const takesArguments = !isRead || query !== undefined || body !== undefined || path.includes('{');

  const possible: readonly (readonly [code: ErrorCode, isPossible: boolean | undefined])[] = [
    ['invalid_argument', takesArguments],
    ['invalid_access_token', !isPublic],
    ['not_signed_in', !isPublic],
    // Every authenticated caller is at least a viewer, but the request may come from another site's page, or with a token that
    // only reads the audit log.
    ['forbidden', !isRead || !(isPublic || scope === 'self' || operation.readsAudit)],
    // Too many bodies or long answers of one caller.
    ['rate_limited', !isPublic && (body !== undefined || operation.isHeavy)],
    ['project_not_found', path.includes('{project}')],
    ['environment_not_found', path.includes('{environment}')],
    ...errors.map((code) => [code, true] as const),
    // One guard refuses these.
    ['confirmation_required', isGuarded(operation)],
    ['reason_required', isGuarded(operation)],
    ['approval_required', operation.needsApproval],
    ['revision_conflict', operation.conditions !== undefined],
    ['internal_error', true],
  ];
  return [...new Set(possible.flatMap(([code, isPossible]) => (isPossible ? [code] : [])))];
}

/** Whether it may change protected environments, where the guard of changes can refuse it. */
function isGuarded({ needsApproval, errors }: DescribedOperation): boolean {
  return needsApproval === true || errors?.includes('confirmation_required') === true;
}

function headersOf(operation: DescribedOperation): z.ZodObject[] {
  const { conditions = [], confirms = false, method, role } = operation;
  const isConfirmed = confirms || isGuarded(operation);
  const names = [
    ...conditions,
    ...(isConfirmed ? (['X-Confirm-Environment'] as const) : []),
    ...(method === 'get' || role === 'anyone' ? [] : (['X-Change-Note', 'X-Change-Reference'] as const)),
  ];
  return names.map((name) =>
    z.object({
      [name]: z
        .string()
        .optional()
        .openapi({
          description: HEADERS[name],
          ...(CONDITION_PATTERNS[name] && { pattern: CONDITION_PATTERNS[name] }),
        }),
    }),
  );
}

/** Where the role is required, as the end of a sentence. */
const WHERE: Readonly<Record<Scope, string>> = {
  project: ' in the project',
  visible: ' in at least one project; what the caller may not see is treated as if it did not exist',
  server: ' for all projects',
  self: '',
};

function roleNeeded({ role, scope, setsStates }: DescribedOperation): string {
  if (role === 'anyone') return 'No authentication required.';
  if (scope === 'self') return 'Requires authentication, and no role.';
  const orHigher = role === 'admin' ? '' : ' or higher';
  const limited = setsStates ? ' Access tokens limited to flag states may call it.' : '';
  return `Requires the role \`${role}\`${orHigher}${WHERE[scope]}.${limited}`;
}

const SEQ = z.string().openapi({ type: 'integer', minimum: 0 });

function paramsOf(path: string): z.ZodObject {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '');
  return z.object(Object.fromEntries(names.map((name) => [name, name === 'seq' ? SEQ : z.string()])));
}

/** A body of these media types; default: JSON only. */
export function contentOf(schema: z.ZodType, mediaTypes: readonly string[] = ['application/json']) {
  return Object.fromEntries(mediaTypes.map((type) => [type, { schema }]));
}
