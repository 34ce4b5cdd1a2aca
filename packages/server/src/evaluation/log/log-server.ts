import type { Logger } from 'pino';
import type { Routes } from '../../http/listeners.ts';
import type { ReadPlane } from '../read-plane.ts';
import type { LogScope } from './scope.ts';

/** A follower that may have the log. */
export interface LogFollower {
  /** The public id of its token, or any name for a process of this machine. */
  readonly id: string;
  readonly scope: LogScope;
}

/** Parts of a {@link LogServer}. */
export interface LogServerOptions {
  readonly plane: ReadPlane;
  /** The follower behind a request; `undefined` refuses it. */
  readonly authorize: (request: Request) => LogFollower | undefined;
  readonly log: Logger;
  /** Bytes of recent rows to keep. */
  readonly backlogBytes?: number;
}

/** Offers the log of a read plane to followers: relays over TCP, workers over a Unix socket. */
export interface LogOffer {
  /** The routes to serve, by path. */
  readonly routes: Routes;
  /** How many followers are connected. */
  readonly followers: number;
  /** Ends the streams of one follower, because its token was revoked. */
  revoke(followerId: string): void;
  /** Ends every stream. Safe to call twice. */
  close(): void;
}
