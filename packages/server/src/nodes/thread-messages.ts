import {
  ReadOnlyDatabaseError,
  ServiceError,
  StorageError,
  StoreBusy,
  StoreOutage,
  UnwritableDatabaseError,
} from '../domain/errors.ts';
import type { HeavyCall } from '../management/api/heavy-call.ts';

/** What the thread needs to open the database. */
export interface ThreadSettings {
  readonly data: string;
  readonly databaseUrl?: string;
  /** Networks that webhooks can reach although they are private. */
  readonly webhookNetworks?: readonly string[];
}

/** From the node to its thread. Messages about one call or question have its `id`. */
export type ToThread =
  | { readonly kind: 'start'; readonly settings: ThreadSettings }
  | { readonly kind: 'call'; readonly id: number; readonly call: HeavyCall }
  /** The caller has taken the last piece of the answer, or went away. */
  | { readonly kind: 'more' | 'cancel'; readonly id: number }
  /** The answer to `turn` and `committed`: it is the thread's turn, or the node has applied the row; or why not. */
  | { readonly kind: 'granted'; readonly id: number; readonly error?: ErrorMessage }
  | { readonly kind: 'close' };

/** From the thread to its node. */
export type FromThread =
  | {
      readonly kind: 'answer';
      readonly id: number;
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
      readonly piece: Piece;
    }
  | { readonly kind: 'piece'; readonly id: number; readonly piece: Piece }
  | { readonly kind: 'failed'; readonly id: number; readonly error: ErrorMessage }
  | Question
  /** The transaction of the turn has ended. */
  | { readonly kind: 'turnOver' };

/** What the thread waits for, under an `id` of its own. */
export type Question =
  /** It has a change to write, and waits until no other change of the node is in the database. */
  | { readonly kind: 'turn'; readonly id: number }
  /** It has committed row `seq`, and waits until the node has applied it. */
  | { readonly kind: 'committed'; readonly id: number; readonly seq: number };

/** A piece of an answer's body; the last one has no more after it. */
export interface Piece {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly isLast: boolean;
  /** Bytes of the answer that the thread still keeps. */
  readonly keptBytes: number;
}

/** An error on its way to another thread, which only copies plain data. */
export interface ErrorMessage {
  readonly name: string;
  readonly message: string;
  readonly stack: string | undefined;
  readonly service?: Pick<ServiceError, 'code' | 'retryAfterSeconds'>;
}

/** A class comes before the one it extends. */
const STORAGE_ERRORS = [
  ReadOnlyDatabaseError,
  UnwritableDatabaseError,
  StorageError,
  StoreBusy,
  StoreOutage,
] as const;

/** The error as a message. */
export function errorMessage(error: unknown): ErrorMessage {
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  if (error instanceof ServiceError) {
    const { name, code, retryAfterSeconds } = error;
    return { name, message, stack, service: { code, retryAfterSeconds } };
  }
  // By class: those that extend one of them are handled as it is.
  const known = STORAGE_ERRORS.find((kind) => error instanceof kind);
  return { name: known?.name ?? 'Error', message, stack };
}

/** The error of a message, which is handled like the original. */
export function errorOf({ name, message, stack, service }: ErrorMessage): Error {
  const kind = STORAGE_ERRORS.find((known) => known.name === name);
  const { code, retryAfterSeconds } = service ?? {};
  const error =
    code === undefined
      ? new (kind ?? Error)(message)
      : new ServiceError(code, message, retryAfterSeconds === undefined ? {} : { retryAfterSeconds });
  if (stack !== undefined) error.stack = stack;
  return error;
}
