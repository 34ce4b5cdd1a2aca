import { ERROR_STATUS, type ErrorCode } from '@halyard/protocol';
import { type RouteConfig, z } from '@hono/zod-openapi';
import type { Role } from '../../domain/people.ts';
import type { Operation } from './operation.ts';
import { ErrorBodySchema } from './schemas.ts';

/** Names of the security schemes in the OpenAPI document. */
export const SECURITY = {
  accessToken: 'accessToken',
  session: 'session',
  serviceKey: 'serviceKey',
} as const;

/** An operation as far as its description goes; `anyone` need not be signed in. */
export type DescribedOperation<Path extends string, Body, Query> = Omit<
  Operation<Path, Body, Query>,
  'role'
> & {
  readonly role: Role | 'anyone';
};

const HEADERS = {
  'If-Match': 'Do it only if the revision is still this one, as in `"12"`; `*`: only if it exists.',
  'If-None-Match': '`*`: do it only if nothing is there yet.',
  'X-Confirm-Environment':
    'The names of the protected environments that this very request is meant to change, with commas between; only ' +
    'asked of people who signed in.',
  'X-Change-Note': 'Why; kept in the audit log.',
} as const;

/** The OpenAPI description of a management operation. */
export function describeOperation<Path extends string, Body, Query>(
  operation: DescribedOperation<Path, Body, Query>,
): RouteConfig {
  const { method, path, id, tag, role, summary, query, body, answer } = operation;
  return {
    method,
    path,
    operationId: id,
    summary,
    description: needs(role),
    'x-role': role,
    tags: [tag],
    security: role === 'anyone' ? [] : [{ [SECURITY.accessToken]: [] }, { [SECURITY.session]: [] }],
    request: {
      ...(path.includes('{') ? { params: paramsOf(path) } : {}),
      // `ZodObject`: every query of ours is one; the type only says what it gives.
      ...(query === undefined ? {} : { query: query as unknown as z.ZodObject }),
      headers: headersOf(operation),
      ...(body === undefined
        ? {}
        : { body: { required: true, content: contentOf(body.schema, body.mediaTypes) } }),
    },
    responses: {
      [answer.status]: {
        description: answer.description,
        ...(answer.schema === undefined ? {} : { content: contentOf(answer.schema, answer.mediaTypes) }),
        ...(answer.tagOf === undefined
          ? {}
          : { headers: z.object({ ETag: z.string().openapi({ description: answer.tagOf }) }) }),
      },
      ...describeErrors(errorsOf(operation)),
    },
  };
}

/** The error answers of an operation, by status. */
export function describeErrors(codes: readonly ErrorCode[]): RouteConfig['responses'] {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of codes) {
    const status = ERROR_STATUS[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, some]) => [
      status,
      { description: some.map((code) => `\`${code}\``).join(' or '), content: contentOf(ErrorBodySchema) },
    ]),
  );
}

function errorsOf<Path extends string, Body, Query>(
  operation: DescribedOperation<Path, Body, Query>,
): readonly ErrorCode[] {
  const takesArguments =
    operation.method !== 'get' || operation.query !== undefined || operation.body !== undefined;
  return [
    ...(takesArguments ? (['invalid_argument'] as const) : []),
    ...(operation.role === 'anyone' ? [] : (['invalid_access_token', 'not_signed_in'] as const)),
    // Everybody who gets in at all is a viewer, but may come from another site's page.
    ...(operation.method === 'get' && (operation.role === 'viewer' || operation.role === 'anyone')
      ? []
      : (['forbidden'] as const)),
    ...(operation.errors ?? []),
    ...(operation.conditions === undefined ? [] : (['revision_conflict'] as const)),
    'internal_error',
  ];
}

function headersOf<Path extends string, Body, Query>(
  operation: DescribedOperation<Path, Body, Query>,
): z.ZodObject[] {
  const { conditions = [], confirms = false, errors, method, role } = operation;
  const isConfirmed = confirms || errors?.includes('confirmation_required') === true;
  const names = [
    ...conditions,
    ...(isConfirmed ? (['X-Confirm-Environment'] as const) : []),
    ...(method === 'get' || role === 'anyone' ? [] : (['X-Change-Note'] as const)),
  ];
  return names.map((name) =>
    z.object({ [name]: z.string().optional().openapi({ description: HEADERS[name] }) }),
  );
}

function needs(role: Role | 'anyone'): string {
  if (role === 'anyone') return 'Nobody need be signed in for it.';
  return `Needs the role \`${role}\`${role === 'admin' ? '' : ' or a greater one'}.`;
}

function paramsOf(path: string): z.ZodObject {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '');
  return z.object(Object.fromEntries(names.map((name) => [name, z.string()])));
}

function contentOf(schema: z.ZodType, mediaTypes: readonly string[] = ['application/json']) {
  return Object.fromEntries(mediaTypes.map((type) => [type, { schema }]));
}
