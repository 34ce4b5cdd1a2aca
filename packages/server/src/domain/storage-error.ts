/**
 * The storage cannot be used as it is found. The message is one that an operator can act on: what is wrong with
 * which file or server, and what to do.
 */
export class StorageError extends Error {
  override readonly name = 'StorageError';
}
