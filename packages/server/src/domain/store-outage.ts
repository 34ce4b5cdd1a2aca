/**
 * The store cannot be reached, or written, for now: its server is down, starting or a standby, or the way to it is cut.
 * Nothing was written. It heals by itself once the store is back, so it is worth trying again; the cause is the
 * engine's error.
 */
export class StoreOutage extends Error {
  override readonly name = 'StoreOutage';
}
