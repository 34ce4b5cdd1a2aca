/** What the history can be narrowed to: all deeds of a noun, or one deed. */
export const ACTION_CHOICES: readonly (readonly [action: string, name: string])[] = [
  ['flag', 'flags: all'],
  ['flag.changed', 'flag states'],
  ['flag.created', 'flags created'],
  ['flag.updated', 'flags edited'],
  ['flag.archived', 'flags archived'],
  ['flag.deleted', 'flags deleted'],
  ['schedule', 'schedules'],
  ['key', 'project keys'],
  ['environment', 'environments'],
  ['project', 'projects'],
  ['operator', 'operators'],
  ['invitation', 'invitations'],
  ['token', 'access tokens'],
  ['session', 'sign-ins'],
];
