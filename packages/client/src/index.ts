/** The client library of Halyard: the flags of one environment, always answered, always kept new. */
export type { FlagMap, FlagState, Json } from '@halyard/protocol';
export { createClient } from './client.ts';
export type {
  BooleanReadOptions,
  DefaultOf,
  FlagKey,
  FlagsClient,
  ReadOptions,
  ReadyResult,
  RegisteredFlags,
  TargetingKey,
  ValueOf,
  Widen,
} from './client-types.ts';
export type { ClientStatus } from './connection.ts';
export {
  type ClientErrorCode,
  type FlagErrorCode,
  FlagsError,
  type FlagsErrorDetails,
  type ServerErrorCode,
} from './errors.ts';
export { type EvaluatedFlags, evaluateAll } from './evaluate-all.ts';
export type { Evaluation, Reason } from './evaluation.ts';
export { type FlagRead, type ObserveOptions, observeReads } from './observe.ts';
export type { Bootstrap, ClientOptions, FlagsChange } from './options.ts';
export type { Fetch } from './platform.ts';
export type { Logger } from './reporter.ts';
export type { Mode } from './target.ts';

/**
 * Registers an application's flags, so that keys are completed and checked. `halyard types` writes this for you:
 *
 * ```ts
 * declare module '@halyard/client' {
 *   interface Register { flags: { 'new-checkout': boolean; 'page-size': number } }
 * }
 * ```
 */
// biome-ignore lint/suspicious/noEmptyInterface: it is filled in by the application
export interface Register {}
