/** Where a {@link remoteLog} is. */
export interface RemoteLogOptions {
  /** The base address of the upstream, without a trailing slash; for a Unix socket `http://localhost`. */
  readonly url: string;
  /** The path of the Unix socket to connect to. */
  readonly unix?: string;
  /** Sent as a bearer token. */
  readonly token?: string;
}
