/** A request handler that gives an application's own pages the flags, without the project key. */
export { createFlagsHandler, type FlagsHandler, type HandlerOptions } from './handler/handler.ts';
export { type NodeRequest, type NodeResponse, toNodeListener } from './handler/node.ts';
