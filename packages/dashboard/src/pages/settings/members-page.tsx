import UserPlus from 'lucide-react/icons/user-plus';
import { useState } from 'react';
import { useParams } from 'wouter';
import { useOperators } from '../../api/operators.ts';
import { useCan } from '../../api/session.ts';
import type { CreatedLink, OperatorRecord, Role } from '../../api/types.ts';
import { useSearchState } from '../../browser/use-search-state.ts';
import { Button } from '../../components/button.tsx';
import { DialogPart } from '../../components/dialog-part.tsx';
import { lazyPart } from '../../components/lazy-part.ts';
import { ListFilter, useListSearch } from '../../components/list-filter.tsx';
import { ListScreen } from '../../components/list-screen.tsx';
import { SectionPart } from '../../components/parts.tsx';
import { mayChange, ROLE_NAMES } from '../../components/permission-fields.tsx';
import { PersonHead, useCanInvite } from '../../components/person-head.tsx';
import { RecordActions, RecordCell, RecordRow, RecordTable } from '../../components/tables.tsx';
import { memberTexts as texts } from './messages.tsx';

const dialogs = () => import('../operators/operator-dialogs.tsx');
const InviteDialog = lazyPart(dialogs, 'InviteDialog');
const LinkDialog = lazyPart(dialogs, 'LinkDialog');
const EditOperatorDialog = lazyPart(dialogs, 'EditOperatorDialog');
const InvitationList = lazyPart(() => import('../operators/invitation-list.tsx'), 'InvitationList');

/** The screen "Members": who has a role in a project, and why. */
export function MembersPage() {
  const { project = '' } = useParams<{ project: string }>();
  // Only in this component's state: the link is shown once.
  const [created, setCreated] = useState<CreatedLink>();
  const stop = () => setCreated(undefined);

  const invitations = (
    <>
      <SectionPart>
        <InvitationList project={project} />
      </SectionPart>
      {created !== undefined && (
        <DialogPart title={texts.create} onClose={stop}>
          <LinkDialog created={created} onClose={stop} />
        </DialogPart>
      )}
    </>
  );

  return (
    <ListScreen
      texts={texts}
      project={project}
      command="member.new"
      reading={useOperators()}
      rows={3}
      createIcon={UserPlus}
      canCreate={useCanInvite()}
      dialog={(close) => (
        <DialogPart title={texts.create} onClose={close}>
          <InviteDialog project={project} onClose={close} onCreated={setCreated} />
        </DialogPart>
      )}
      below={invitations}
    >
      {(people) => <Members project={project} people={people} />}
    </ListScreen>
  );
}

const [, roleColumn, sourceColumn, protectedColumn] = texts.columns;

const RANKS = ['none', 'viewer', 'editor', 'admin'] as const;

/** A role in a project: the higher one of the role there and the role for all projects; `undefined` without one. */
function roleHere({ role, projects = [] }: OperatorRecord, project: string) {
  const here = projects.find((each) => each.project === project);
  const isOwn = here !== undefined && RANKS.indexOf(here.role) >= RANKS.indexOf(role);
  if (isOwn) return { role: here.role, isOwn };
  return role === 'none' ? undefined : { role: role satisfies Role, isOwn };
}

/** The people who have a role here, with a search by name and e-mail (`q` in the address) and by role (`role`). */
function Members({ project, people }: { project: string; people: readonly OperatorRecord[] }) {
  const [search] = useSearchState();
  const isFound = useListSearch();
  const role = search.get('role') ?? '';
  const members = people.filter((person) => roleHere(person, project) !== undefined);
  const shown = members.filter((person) => {
    const isOfRole = role === '' || roleHere(person, project)?.role === role;
    return isOfRole && isFound(`${person.name} ${person.email}`);
  });
  const roles = RANKS.slice(1).map((rank) => [rank, ROLE_NAMES[rank]] as const);

  return (
    <>
      <ListFilter
        label={texts.find}
        select={{
          name: 'role',
          kind: 'filter',
          label: roleColumn.label,
          none: texts.anyRole,
          choices: roles,
        }}
        shown={shown.length}
        total={members.length}
      />
      <RecordTable label={texts.list} columns={texts.columns}>
        {shown.map((person) => (
          <MemberRow key={person.id} project={project} person={person} />
        ))}
      </RecordTable>
    </>
  );
}

function MemberRow({ project, person }: { project: string; person: OperatorRecord }) {
  const canChange = useCan('admin');
  const [isEditing, setEditing] = useState(false);
  const { name, projects = [] } = person;
  const found = roleHere(person, project);
  if (found === undefined) return null;
  const isAllowed = [person, ...projects.filter((each) => each.project === project)].some(mayChange);

  return (
    <RecordRow>
      <PersonHead person={person} />
      <RecordCell label={roleColumn.label}>{ROLE_NAMES[found.role]}</RecordCell>
      <RecordCell label={sourceColumn.label}>{found.isOwn ? texts.here : texts.everywhere}</RecordCell>
      <RecordCell label={protectedColumn.label}>{isAllowed ? texts.yes : texts.no}</RecordCell>
      <RecordActions>
        {canChange && (
          <Button aria-label={texts.editPerson(name)} onClick={() => setEditing(true)}>
            {texts.edit}
          </Button>
        )}
        {isEditing && (
          <DialogPart title={texts.editPerson(name)} onClose={() => setEditing(false)}>
            <EditOperatorDialog operator={person} onClose={() => setEditing(false)} />
          </DialogPart>
        )}
      </RecordActions>
    </RecordRow>
  );
}
