import { revokeInvitation, useInvitations } from '../../api/operators.ts';
import { queryKeys } from '../../api/query-cache.ts';
import { useCan } from '../../api/session.ts';
import type { InvitationRecord } from '../../api/types.ts';
import { useAction } from '../../components/actions.tsx';
import { Author } from '../../components/badges.tsx';
import { Button } from '../../components/button.tsx';
import { TimeCell } from '../../components/lifetime.tsx';
import { protectedText, RightsText } from '../../components/permission-fields.tsx';
import { Loaded } from '../../components/screen-states.tsx';
import { Section } from '../../components/section.tsx';
import { RecordActions, RecordCell, RecordHead, RecordRow, RecordTable } from '../../components/tables.tsx';
import { messages } from './messages.tsx';

/** The links that still work, of one project or all; nothing for people who may not make any. */
export function InvitationList({ project }: { project?: string }) {
  const reading = useInvitations();
  if (!useCan('admin')) return null;
  const isListed = ({ projects = [] }: InvitationRecord) =>
    project === undefined || projects.some((each) => each.project === project);

  return (
    <Section title={messages.links} className="mt-8">
      <Loaded reading={reading} rows={1}>
        {(invitations) => {
          const listed = invitations.filter(isListed);
          if (listed.length === 0) return <p className="text-ink-2">{messages.noLinks}</p>;
          return (
            <RecordTable label={messages.links} columns={messages.linkColumns}>
              {listed.map((invitation) => (
                <InvitationRow key={invitation.id} invitation={invitation} />
              ))}
            </RecordTable>
          );
        }}
      </Loaded>
    </Section>
  );
}

const [, kindColumn, roleColumn, protectedColumn, creatorColumn, expiryColumn] = messages.linkColumns;

function InvitationRow({ invitation }: { invitation: InvitationRecord }) {
  const perform = useAction();
  const { id, kind, email = messages.firstAdmin, createdBy, expiresAt } = invitation;

  return (
    <RecordRow>
      <RecordHead>
        <span className="font-medium wrap-anywhere">{email}</span>
      </RecordHead>
      <RecordCell label={kindColumn.label}>{messages.linkKinds[kind]}</RecordCell>
      <RecordCell label={roleColumn.label}>
        <RightsText rights={invitation} />
      </RecordCell>
      <RecordCell label={protectedColumn.label} className="lg:whitespace-nowrap">
        {protectedText(invitation)}
      </RecordCell>
      <RecordCell label={creatorColumn.label}>
        <Author actor={createdBy} />
      </RecordCell>
      <TimeCell label={expiryColumn.label} at={expiresAt} />

      <RecordActions>
        <Button
          aria-label={messages.revokeLink(email)}
          onClick={() =>
            void perform({
              run: () => revokeInvitation(id),
              done: messages.linkRevoked(email),
              failed: messages.revokeFailed(email),
              stale: [queryKeys.invitations],
            })
          }
        >
          {messages.revoke}
        </Button>
      </RecordActions>
    </RecordRow>
  );
}
