import { defined } from '@halyard/protocol';
import { done, ok } from '../../management/api/answers.ts';
import type { ManagementApp } from '../../management/api/management-app.ts';
import { tagged } from '../../management/api/operation.ts';
import { listAnswer, nextMember, pageIn, pageOf, pageQuery } from '../../management/api/pages.ts';
import { rightsMembers } from '../../management/api/rights-schemas.ts';
import { DoneSchema, seqMember } from '../../management/api/schemas.ts';
import { z } from '../../management/api/zod.ts';
import type { Operator } from './operator.ts';
import { changeOperator, deleteOperator, listOperators } from './operators.ts';
import type { PeopleContext } from './people.ts';
import { OperatorRecordSchema, operatorRecord } from './people-schemas.ts';

/** Mounts the routes of operators: the people who sign in. */
export function mountOperators(app: ManagementApp, context: PeopleContext): void {
  const { mount } = tagged(app, 'Operators');
  mount({
    method: 'get',
    path: '/api/operators',
    id: 'listOperators',
    role: 'viewer',
    scope: 'visible',
    summary: 'List the operators, by e-mail',
    query: z.strictObject(pageQuery),
    answer: {
      description: 'The operators.',
      schema: z.object({ operators: z.array(OperatorRecordSchema), ...nextMember }),
    },
    handle: async ({ actor, query }) => {
      const page = pageOf(query, ['email'] as const);
      const place = ({ email }: Operator) => [email] as const;
      const record = (operator: Operator) => operatorRecord(operator, actor);
      const operators = pageIn(await listOperators(context, actor), page, place);
      return ok(listAnswer('operators', operators, { page, record, place }));
    },
  });

  mount({
    method: 'patch',
    path: '/api/operators/{id}',
    id: 'changeOperator',
    errors: ['not_found', 'project_not_found'],
    role: 'admin',
    scope: 'visible',
    summary:
      "Change an operator's name or permissions; a new role for all projects ends the operator's sessions",
    body: {
      schema: z.strictObject({
        name: z.string().optional(),
        ...rightsMembers,
      }),
    },
    answer: { description: 'The operator.', schema: OperatorRecordSchema.extend(seqMember) },
    handle: async ({ params, body, actor, session }) => {
      const change = defined(body);
      const keep = defined({ keep: session?.session.digest });
      const operator = await changeOperator(context, actor, { id: params.id, change, ...keep });
      return ok({ ...operatorRecord(operator, actor), seq: operator.seq });
    },
  });

  mount({
    method: 'delete',
    path: '/api/operators/{id}',
    id: 'removeOperator',
    errors: ['not_found'],
    role: 'admin',
    scope: 'server',
    summary:
      'Remove an operator, with their sessions, own tokens and open links; what they scheduled, planned or proposed ends',
    answer: { schema: DoneSchema, description: 'The operator can no longer sign in.' },
    handle: async ({ params, actor }) => done(await deleteOperator(context, actor, params.id)),
  });
}
