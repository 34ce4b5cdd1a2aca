import { useCallback, useMemo } from 'react';
import { useOperators } from './operators.ts';
import { useOperator } from './session.ts';

/** How an actor of the audit log is called on the screen. */
export interface PersonName {
  /** The name of a person, or of a token; the e-mail where the person has no name or is gone. */
  readonly name: string;
  /** What tells two of the same name apart; absent where the name says it. */
  readonly detail?: string;
  /** Whether it is the person at this screen. */
  readonly isSelf: boolean;
}

/** Gives the function that names actors such as `operator:ada@example.com`, `token:ci` and `system`. */
export function usePersonName(): (actor: string) => PersonName {
  const { data: operators } = useOperators();
  const self = useOperator();
  const names = useMemo(
    () => new Map([...(operators ?? []), self].map(({ email, name }) => [email, name])),
    [operators, self],
  );
  return useCallback(
    (actor) => {
      const [kind, id] = splitActor(actor);
      if (kind === 'token') return { name: `token ${id}`, isSelf: false };
      if (kind === 'system') return { name: 'the server', isSelf: false };
      const name = names.get(id) ?? '';
      const isSelf = id === self.email;
      return name === '' || name === id ? { name: id, isSelf } : { name, detail: id, isSelf };
    },
    [names, self],
  );
}

/** The kind of an actor and what names it: `operator:ada@example.com` is `operator` and `ada@example.com`. */
export function splitActor(actor: string): readonly [kind: string, id: string] {
  const colon = actor.indexOf(':');
  return colon === -1 ? [actor, actor] : [actor.slice(0, colon), actor.slice(colon + 1)];
}
