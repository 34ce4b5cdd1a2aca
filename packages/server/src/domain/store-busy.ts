/**
 * Another writer holds for longer than this one waits what both need, as a large import does. Nothing was written, and
 * it is worth trying again; the cause is the engine's error.
 */
export class StoreBusy extends Error {
  override readonly name = 'StoreBusy';
}
