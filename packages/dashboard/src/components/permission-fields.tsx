import { GLOBAL_ROLES } from '@halyard/protocol';
import type { ReactNode } from 'react';
import { useProjects } from '../api/projects.ts';
import { useAdministered } from '../api/session.ts';
import type { GlobalRole, ProjectRole, Rights, Role } from '../api/types.ts';
import { readStored } from '../browser/stored.ts';
import { CheckField, ChoiceField, FormError } from './field.tsx';
import { messages } from './messages.ts';
import { MultiSelect } from './multi-select.tsx';
import { Select } from './select.tsx';

/** The rights that a form asks for. */
export interface Permissions {
  readonly role: GlobalRole;
  readonly canChangeProtected: boolean;
  readonly projects: readonly ProjectRole[];
}

/** The name of a role on screens. */
export const ROLE_NAMES: Readonly<Record<GlobalRole, string>> = {
  none: 'No role',
  viewer: 'Viewer',
  editor: 'Editor',
  admin: 'Administrator',
};

const ROLE_CHOICES = GLOBAL_ROLES.flatMap((role) =>
  role === 'none' ? [] : [[role, <RoleLabel key={role} role={role} />] as const],
);

function RoleLabel({ role }: { role: Role }) {
  return (
    <span>
      <span className="font-medium">{ROLE_NAMES[role]}</span>
      <span className="block text-xs text-ink-2">{messages.roles[role]}</span>
    </span>
  );
}

/**
 * The rights that a new person or token starts with, which are few: a viewer's in one project, `project` or else the one that the
 * signed-in person was in last.
 */
export function useDefaultPermissions(project = readStored('project')): Permissions {
  const names = useGivenProjects();
  const from = names.find((name) => name === project) ?? (names.length === 1 ? names[0] : undefined);
  return {
    role: 'none',
    canChangeProtected: false,
    projects: from === undefined ? [] : [viewerOf(from)],
  };
}

/** The projects in which the signed-in person may give roles. */
function useGivenProjects(): readonly string[] {
  const { data: projects = [] } = useProjects();
  const administered = useAdministered();
  return projects.flatMap(({ name }) => (administered?.includes(name) === false ? [] : [name]));
}

function viewerOf(project: string): ProjectRole {
  return { project, role: 'viewer', canChangeProtected: false };
}

const PLACES = (['some', 'all'] as const).map((place) => [place, messages.places[place]] as const);

/**
 * Asks where the rights count and then for the role: in single projects, or in all. A role in all projects can be higher in
 * some.
 */
export function PermissionFields({
  value,
  error,
  onChange,
}: {
  value: Permissions;
  /** Why the rights cannot be sent. */
  error?: string | undefined;
  onChange: (permissions: Permissions) => void;
}) {
  const { role, canChangeProtected } = value;
  const isAllowed = useAdministered() === undefined;
  const isForAll = role !== 'none';

  return (
    <>
      {isAllowed && (
        <ChoiceField
          legend={messages.where}
          layout="boxes"
          choices={PLACES}
          selected={isForAll ? 'all' : 'some'}
          onSelect={(place) => onChange({ ...value, role: place === 'all' ? 'viewer' : 'none' })}
        />
      )}
      {isAllowed && isForAll && (
        <RoleFields
          legend={messages.roleForAll}
          value={{ role, canChangeProtected }}
          onChange={(rights) => onChange({ ...value, ...rights })}
        />
      )}
      <ProjectRoles
        legend={isForAll ? messages.higherRoles : messages.projectRoles}
        hint={isForAll ? messages.projectRolesHint : undefined}
        roles={value.projects}
        isWrong={error !== undefined}
        onChange={(projects) => onChange({ ...value, projects })}
      />
      <FormError>{error}</FormError>
    </>
  );
}

/** A role, and whether it reaches protected environments, which is a choice for editors only. */
export type RoleChoice = Pick<Permissions, 'role' | 'canChangeProtected'>;

const EVERYTHING: RoleChoice = { role: 'admin', canChangeProtected: true };

/** Asks for a role, up to `most`, and whether an editor may change protected environments. */
export function RoleFields({
  legend,
  hint,
  value: { role, canChangeProtected },
  most = EVERYTHING,
  onChange,
}: {
  legend: string;
  hint?: string;
  value: RoleChoice;
  most?: RoleChoice;
  onChange: (value: RoleChoice) => void;
}) {
  const end = ROLE_CHOICES.findIndex(([each]) => each === most.role) + 1;

  return (
    <>
      <ChoiceField
        legend={legend}
        hint={hint}
        layout="rows"
        choices={ROLE_CHOICES.slice(0, end)}
        selected={role}
        onSelect={(each) => onChange({ role: each, canChangeProtected })}
      />
      {(role === 'admin' || (role === 'editor' && mayChange(most))) && (
        <CheckField
          label={messages.canChangeProtected}
          hint={messages.protectedHints[role]}
          isChecked={role === 'admin' || canChangeProtected}
          isDisabled={role === 'admin'}
          onChange={(isChecked) => onChange({ role, canChangeProtected: isChecked })}
        />
      )}
    </>
  );
}

/** A role in a project and its access to protected environments, as one choice. */
const PROJECT_CHOICES = [
  ['viewer', ROLE_NAMES.viewer],
  ['editor', ROLE_NAMES.editor],
  ['editor+', messages.editorOfProtected],
  ['admin', ROLE_NAMES.admin],
] as const;

/** Asks in which projects there is a role, and for the role in each. */
function ProjectRoles({
  legend,
  hint,
  roles,
  isWrong,
  onChange,
}: {
  legend: string;
  hint: string | undefined;
  roles: readonly ProjectRole[];
  isWrong: boolean;
  onChange: (roles: readonly ProjectRole[]) => void;
}) {
  const names = useGivenProjects();
  const select = (selected: readonly string[]) =>
    onChange(
      selected
        .toSorted()
        .map((project) => roles.find((each) => each.project === project) ?? viewerOf(project)),
    );

  return (
    <fieldset data-invalid={isWrong || undefined}>
      <legend className="mb-1 font-medium">{legend}</legend>
      <div className="space-y-1.5">
        {roles.map(({ project, role, canChangeProtected }) => (
          <div key={project} className="flex items-center gap-2">
            <span className="min-w-0 flex-1 truncate" title={project}>
              {project}
            </span>
            <Select
              label={messages.roleIn(project)}
              className="max-w-1/2"
              value={role === 'editor' && canChangeProtected ? 'editor+' : role}
              choices={PROJECT_CHOICES}
              onSelect={(chosen) =>
                onChange(roles.map((each) => (each.project === project ? roleOf(project, chosen) : each)))
              }
            />
          </div>
        ))}

        <MultiSelect
          label={legend}
          none={messages.selectProjects}
          options={names.map((value) => ({ value }))}
          selected={roles.map(({ project }) => project)}
          summary={messages.projectCount(roles.length)}
          onChange={select}
        />
      </div>
      {hint !== undefined && <p className="mt-1 text-xs text-ink-3">{hint}</p>}
    </fieldset>
  );
}

function roleOf(project: string, chosen: string): ProjectRole {
  if (chosen === 'editor+') return { project, role: 'editor', canChangeProtected: true };
  // `Role`: the other choices are roles.
  return { project, role: chosen as Role, canChangeProtected: chosen === 'admin' };
}

/** Why there is nothing to grant; `undefined` when there is. */
export function permissionsProblem({ role, projects }: Permissions): string | undefined {
  return role === 'none' && projects.length === 0 ? messages.noRights : undefined;
}

/** The permissions to send. Access to protected environments is a choice for editors only. */
export function permissionMembers({ role, canChangeProtected, projects }: Permissions): Permissions {
  return { role, canChangeProtected: mayChange({ role, canChangeProtected }), projects };
}

/** Rights in a cell: a line for all projects, and one for each project that has its own role. */
export function RightsText({ rights }: { rights: Rights }): ReactNode {
  const { role, projects = [] } = rights;
  return (
    <>
      {(role !== 'none' || projects.length === 0) && <span className="block">{ROLE_NAMES[role]}</span>}
      {projects.map((each) => (
        <span key={each.project} className="block">
          {messages.roleNamed(ROLE_NAMES[each.role], each.project)}
          {each.role === 'editor' && each.canChangeProtected && messages.alsoProtected}
        </span>
      ))}
    </>
  );
}

/** The permission for protected environments in words. */
export function protectedText({ projects = [], ...rights }: Rights): string {
  const { yes, no, some } = messages.protectedAccess;
  if (mayChange(rights)) return yes;
  if (!projects.some(mayChange)) return no;
  return rights.role === 'none' && projects.every(mayChange) ? yes : some;
}

/** Whether rights allow to change protected environments. */
export function mayChange({
  role,
  canChangeProtected,
}: Pick<Rights, 'role' | 'canChangeProtected'>): boolean {
  return role === 'admin' || (role === 'editor' && canChangeProtected);
}
