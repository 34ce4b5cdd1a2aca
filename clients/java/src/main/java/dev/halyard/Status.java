package dev.halyard;

/** Where a client stands. (Contract: C3.1) */
public enum Status {
  /** No flags yet, the first load is under way. */
  CONNECTING,
  /** The flags are current. */
  READY,
  /** The flags may be out of date, and the client is reconnecting. */
  STALE,
  /** The first load failed and there are still no flags. */
  FAILED,
  /** The client was closed; reads go on with the flags that it had. */
  CLOSED
}
