import { useOperator } from '../../api/session.ts';
import type { Role } from '../../api/types.ts';
import { ROLE_NAMES } from '../../components/permission-fields.tsx';

const MAY: Readonly<Record<Role, string>> = {
  viewer: 'You see everything and change nothing.',
  editor: 'You change flags, their states and schedules.',
  admin: 'You may do everything.',
};

/** Name, e-mail and role, which administrators change. */
export function Profile() {
  const { name, email, role, canChangeProtected } = useOperator();
  return (
    <dl className="grid grid-cols-[auto_1fr] gap-x-6 gap-y-2">
      <Line term="Name">{name}</Line>
      <Line term="E-mail">{email}</Line>
      <Line term="Role">
        {ROLE_NAMES[role]}
        <span className="block text-xs text-ink-3">
          {MAY[role]}{' '}
          {role === 'editor' &&
            (canChangeProtected
              ? 'Protected environments too.'
              : 'Not in protected environments: an administrator can allow it.')}
        </span>
      </Line>
    </dl>
  );
}

function Line({ term, children }: { term: string; children: React.ReactNode }) {
  return (
    <>
      <dt className="text-ink-3">{term}</dt>
      <dd className="min-w-0 break-words">{children}</dd>
    </>
  );
}
