import pg from 'pg';

/** SQLSTATE classes in which the session died, so that nobody knows what became of its COMMIT. */
const FATAL_CLASSES = ['08', '57P', '58', 'XX'];

/** Statement completion unknown. */
const UNKNOWN_COMPLETION = '40003';

/** Conditions that another run of the same transaction meets differently. */
const PASSING: ReadonlySet<string> = new Set([
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

/** Whether running the whole transaction again makes sense. */
export function isPassing(error: unknown): boolean {
  return error instanceof pg.DatabaseError && PASSING.has(error.code ?? '');
}
