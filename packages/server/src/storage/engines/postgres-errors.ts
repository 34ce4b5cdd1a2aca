import pg from 'pg';
import { ServiceError, StorageError, StoreOutage, UnwritableDatabaseError } from '../../domain/errors.ts';

/** The server ended a session that was idle in its transaction for too long, or whose transaction took too long. */
const TOO_LONG = ['25P03', '25P04'];

/** SQLSTATE prefixes of errors with which the session died, which leaves the outcome of its COMMIT unknown. */
const FATAL_CLASSES = ['08', '57P', '58', 'XX', ...TOO_LONG];

/** SQLSTATE prefixes of a server that is away for now: lost, stopping or starting, or with no connection to spare. */
const AWAY = ['08', '57P', '53300', ...TOO_LONG];

/** Statement completion unknown. */
const UNKNOWN_COMPLETION = '40003';

/** Conflicts that running the same transaction again resolves. */
const TRANSIENT: ReadonlySet<string> = new Set([
  '40001', // serialization failure
  '40P01', // deadlock
  '23505', // unique: another writer made what this one had just found missing
  '23503', // foreign key: another writer removed what this one had just read; run again, it reads that
]);

/** Whether the server itself refused the statement, in a session that lives on. Anything else is a lost connection. */
export function isRefusal(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError)) return false;
  const code = error.code ?? '';
  return code !== UNKNOWN_COMPLETION && !FATAL_CLASSES.some((prefix) => code.startsWith(prefix));
}

/** Whether a retry of the whole transaction can succeed. */
export function isTransient(error: unknown): boolean {
  return error instanceof pg.DatabaseError && TRANSIENT.has(error.code ?? '');
}

/** Whether the statement gave up waiting for what another transaction holds. */
export function isBusy(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === '55P03';
}

/** Whether a statement asserted something that does not hold: it divided by zero, which no other statement of ours does. */
export function isFailedAssertion(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === '22012';
}

/** Whether the server takes no writes: a standby refuses BEGIN or the statement. */
export function isReadOnly(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError)) return false;
  return error.code === '25006' || (error.code === '0A000' && /during recovery/.test(error.message));
}

/** What refuses writes, by SQLSTATE. */
const UNWRITABLE: Readonly<Record<string, string>> = {
  '53100': 'the disk of its server is full',
  '58030': 'the disk of its server reports errors',
};

/** Names what keeps a database from being written; returns any other error of a write as it is. */
export function toUnwritable(error: unknown): unknown {
  const reason = error instanceof pg.DatabaseError ? UNWRITABLE[error.code ?? ''] : undefined;
  return reason === undefined ? error : new UnwritableDatabaseError(reason, { cause: error });
}

/** Refusals that need a change of PostgreSQL's settings or ours, by SQLSTATE, with the change. */
const ADVICE: Readonly<Record<string, string>> = {
  '28000': 'Check the user in the database URL, and pg_hba.conf on the server.',
  '28P01': 'Check the user and the password in the database URL.',
  '3D000': 'Create the database, or check its name in the database URL.',
  '3F000': 'Create the schema that the search path of this role names.',
  '42501': 'Grant this role the rights it needs: docs/operations/several-nodes.md lists them.',
};

/**
 * Makes a {@link StorageError} of an error that retrying cannot fix: wrong credentials, a missing database, missing
 * rights, an untrusted certificate. Returns any other error as it is.
 */
export function toStorageError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const code = 'code' in error ? String(error.code) : '';
  const advice = error instanceof pg.DatabaseError ? ADVICE[code] : tlsAdvice(error, code);
  if (advice === undefined) return error;
  return new StorageError(`PostgreSQL cannot be used: ${error.message}. ${advice}`, { cause: error });
}

function tlsAdvice({ message }: Error, code: string): string | undefined {
  if (message.includes('does not support SSL'))
    return 'Switch TLS on at the server, or leave sslmode out of the database URL.';
  if (/CERT|ISSUER|VERIFY_LEAF/.test(code))
    return 'Name the certificate of its authority in the database URL (sslrootcert=<file>) or NODE_EXTRA_CA_CERTS.';
  return undefined;
}

/**
 * Makes a {@link StoreOutage} of a failure to reach the server: a connection that was refused, reset or silent, or a
 * server that is stopping or starting. {@link toStorageError} comes first. Returns any other error as it is.
 */
export function toOutage(failure: unknown): unknown {
  const error = toStorageError(failure);
  if (!(error instanceof Error) || error instanceof ServiceError || error instanceof StorageError)
    return error;
  const code = error instanceof pg.DatabaseError ? (error.code ?? '') : undefined;
  if (code !== undefined && !AWAY.some((prefix) => code.startsWith(prefix))) return error;
  // Refused at several addresses, an error has a code and no message.
  const words = error.message || ('code' in error ? String(error.code) : error.name);
  return new StoreOutage(words, { cause: error });
}
