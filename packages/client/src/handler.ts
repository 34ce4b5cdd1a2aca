/** A request handler that gives an application's own pages the flags, without the project key. */
export { createFlagsHandler, type FlagsHandler, type HandlerOptions } from './handler/handler.ts';
export { type NodeRequest, type NodeResponse, type NodeSocket, toNodeListener } from './handler/node.ts';
