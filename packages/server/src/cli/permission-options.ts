import { type Command, Option } from 'commander';
import { ROLES } from '../domain/people.ts';

/** What a command is told about somebody's permissions. */
export interface PermissionOptions {
  readonly role?: string;
  /** `--protected` and `--no-protected`; absent when neither is given. */
  readonly protected?: boolean;
}

/** Adds `--role`, `--protected` and `--no-protected`. `byDefault` says what holds without them. */
export function addPermissionOptions(
  command: Command,
  byDefault: { readonly role: string; readonly protected: string },
): Command {
  return command
    .addOption(new Option('--role <role>', `viewer, editor or admin (${byDefault.role})`).choices([...ROLES]))
    .option('--protected', `may change protected environments (${byDefault.protected})`)
    .option('--no-protected', 'may not change protected environments');
}

/** The members of a request that the options stand for. */
export function permissionBody(options: PermissionOptions): object {
  return {
    ...(options.role === undefined ? {} : { role: options.role }),
    ...(options.protected === undefined ? {} : { canChangeProtected: options.protected }),
  };
}

/** What somebody may do, in a table: `editor`, `editor, protected too`. Administrators always may. */
export function permissionText(role: string, canChangeProtected: unknown): string {
  return role === 'editor' && canChangeProtected === true ? 'editor, protected too' : role;
}
