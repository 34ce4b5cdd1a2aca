import type { ReactNode } from 'react';
import { useCan, useOperator, useSso } from '../api/session.ts';
import type { OperatorRecord } from '../api/types.ts';
import { Badge } from './badges.tsx';
import { messages } from './messages.ts';
import { RecordHead } from './tables.tsx';

/** A person in a table of people: the name with `children` beside it, and the e-mail. */
export function PersonHead({
  person: { id, name, email },
  children,
}: {
  person: OperatorRecord;
  children?: ReactNode;
}) {
  const self = useOperator();
  return (
    <RecordHead>
      <span className="flex flex-wrap items-center gap-x-2">
        <span className="min-w-0 font-medium">{name}</span>
        {id === self.id && <Badge>{messages.you}</Badge>}
        {children}
      </span>
      <span className="block text-xs wrap-anywhere text-ink-3">{email}</span>
    </RecordHead>
  );
}

/** Whether the signed-in person may invite others. With single sign-on alone, the server refuses links for passwords. */
export function useCanInvite(): boolean {
  const canManage = useCan('admin');
  return !useSso()?.only && canManage;
}
