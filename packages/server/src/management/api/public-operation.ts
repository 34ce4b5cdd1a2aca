import { readBody } from '../../http/body.ts';
import type { Caller } from '../people/people.ts';
import { accept, parseBody } from './body.ts';
import { describeOperation } from './describe-operation.ts';
import type { ManagementApp } from './environment.ts';
import { DEFAULT_BODY_BYTES, type Operation } from './operation.ts';

/** An operation that nobody need be signed in for. */
export type PublicOperation<Path extends string, Body> = Omit<
  Operation<Path, Body, undefined>,
  'role' | 'query'
>;

/** One call of a public operation. */
export interface PublicCall<Body> {
  readonly body: Body;
  readonly caller: Caller;
  readonly request: Request;
}

/** Mounts an operation that anyone may call; it must come before authentication. */
export function mountPublic<Path extends string, Body = undefined>(
  app: ManagementApp,
  operation: PublicOperation<Path, Body>,
  handle: (call: PublicCall<Body>) => Response | Promise<Response>,
): void {
  app.openAPIRegistry.registerPath(describeOperation({ ...operation, role: 'anyone' }));
  app.on(operation.method, operation.path, async (context) => {
    const { body: rule } = operation;
    const request = context.req.raw;
    const body =
      rule === undefined
        ? undefined
        : accept(
            rule.schema,
            parseBody(await readBody(request, rule.maxBytes ?? DEFAULT_BODY_BYTES)),
            'body',
          );
    // `Body`: without a rule the type is `undefined`.
    return handle({ body: body as Body, caller: context.get('caller'), request });
  });
}
