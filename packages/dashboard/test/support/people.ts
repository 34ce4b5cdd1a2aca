import type { World } from './world.ts';

/** The credentials of a person. */
export interface Credentials {
  readonly email: string;
  readonly password: string;
}

type Role = 'viewer' | 'editor' | 'admin';

/** Creates a person, through an invitation that is accepted immediately. */
export async function signUp(
  { management, node }: World,
  person: {
    readonly email: string;
    readonly name?: string;
    /** Default: only the roles in `projects`. */
    readonly role?: Role;
    readonly projects?: readonly { readonly project: string; readonly role: Role }[];
  },
): Promise<Credentials> {
  const { email, name, role = 'none', projects } = person;
  const password = 'a horse of another color';
  // As in the API's contract; any other shape fails immediately.
  const { token } = (await management.request('POST', '/api/invitations', {
    body: { email, role, projects },
  })) as {
    token: string;
  };
  const answer = await fetch(`${node.url}/api/invitations/accept`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ token, password, name }),
  });
  if (!answer.ok)
    throw new Error(`accepting the invitation answered ${answer.status}: ${await answer.text()}`);
  return { email, password };
}
