import Lock from 'lucide-react/icons/lock';
import type { ReactNode } from 'react';
import { useOperator } from '../api/session.ts';

/** Tells somebody who may only look here why there are no buttons. `children` says what takes an administrator. */
export function ReadOnlyNote({ children }: { children: ReactNode }) {
  const { role } = useOperator();
  if (role === 'admin') return null;
  return (
    <p className="mb-4 flex items-start gap-2 rounded-md border border-line bg-surface px-3 py-2 text-ink-2">
      <Lock size={14} className="mt-0.5 shrink-0 text-ink-3" aria-hidden />
      <span>
        {children} takes an administrator; your role is {role}.
      </span>
    </p>
  );
}
