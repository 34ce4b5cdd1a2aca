/** The tools that tests of several packages share: real processes, a failing network, readers that see raw bytes. */
export type { AnswerHead } from './answer-parser.ts';
export { findImports, findRings, type Import, sourceFiles } from './imports.ts';
export { lastingPort } from './lasting-port.ts';
export {
  type ChangeInput,
  type ChangeWritten,
  type CreatedKey,
  type EnvironmentStates,
  type FlagStateInput,
  Management,
  ManagementError,
  type ManagementOptions,
  type ManagementRequest,
  type StateWritten,
} from './management.ts';
export { type NodeProcess, randomAdminToken, type StartNodeOptions, startNode } from './node-process.ts';
export { handOver, RUN_AS } from './postgres-binaries.ts';
export {
  guardServer,
  type PostgresOptions,
  PostgresServer,
  type StopMode,
  startPostgres,
} from './postgres-server.ts';
export { guardProcess, type ProcessGuard } from './process-guard.ts';
export { childrenOf, isAlive, killTree } from './processes.ts';
export { type RawAnswer, type RawExchange, type SendRawOptions, sendRaw } from './raw-http.ts';
export { sharedPostgres } from './shared-postgres.ts';
export type { SseComment, SseFrame } from './sse-parser.ts';
export { type OpenSseOptions, openSse, type SseEnd, SseReader } from './sse-reader.ts';
export { type ProxyTarget, startTcpProxy, TcpProxy } from './tcp-proxy.ts';
export { type TemporaryFolder, temporaryFolder } from './temporary-folder.ts';
export { TestObjectServer } from './test-object-server.ts';
export { beforeDeadline, PATIENCE_MS, until, within } from './waiting.ts';
