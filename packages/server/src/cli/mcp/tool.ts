import type { ToolAnnotations } from '@modelcontextprotocol/server';
import type { z } from 'zod';
import type { Caller, McpSession } from './session.ts';

/**
 * The right that a tool needs: `viewer` reads, `states` sets flag states, `editor` changes anything of a project.
 * The server decides; this only keeps tools off the list that could never work.
 */
export type ToolRight = 'viewer' | 'states' | 'editor';

/** What a call brings beside its input. */
export interface ToolCall {
  readonly session: McpSession;
  /** The program that calls, for the history; as it calls itself. */
  readonly agent: string;
}

/** A tool as data: what the agent reads about it, and what runs it. */
export interface McpTool {
  readonly name: string;
  readonly description: string;
  readonly input: z.ZodObject;
  readonly annotations: ToolAnnotations;
  readonly right: ToolRight;
  /** `input` has passed the schema. Resolves with the answer; throws a {@link Refusal} or a `CliError`. */
  run(input: object, call: ToolCall): Promise<object>;
}

interface Described<Input extends z.ZodObject> {
  readonly name: string;
  readonly description: string;
  readonly input: Input;
  readonly run: (input: z.infer<Input>, call: ToolCall) => Promise<object>;
}

/** Declares a tool that changes nothing. */
export function readTool<Input extends z.ZodObject>(tool: Described<Input>): McpTool {
  return declared(tool, 'viewer', { readOnlyHint: true, openWorldHint: false });
}

/** Declares a tool that changes something. `isDestructive`: it may change what applications get at once. */
export function writeTool<Input extends z.ZodObject>(
  tool: Described<Input> & { readonly right: 'states' | 'editor'; readonly isDestructive: boolean },
): McpTool {
  const { right, isDestructive: destructiveHint } = tool;
  return declared(tool, right, { readOnlyHint: false, destructiveHint, openWorldHint: false });
}

function declared<Input extends z.ZodObject>(
  { name, description, input, run }: Described<Input>,
  right: ToolRight,
  annotations: ToolAnnotations,
): McpTool {
  return {
    name,
    description,
    input,
    annotations,
    right,
    // The library has read the input by this schema.
    run: (given, call) => run(given as z.infer<Input>, call),
  };
}

/** Whether a tool could work for this caller, in any project within the limits. */
export function isOffered({ right }: McpTool, { caller, mayWrite, projects }: McpSession): boolean {
  if (caller.only === 'audit') return false;
  if (right === 'viewer') return true;
  if (!mayWrite || caller.only === 'plan') return false;
  if (caller.only === 'states' && right !== 'states') return false;
  return rolesOf(caller, projects).some((role) => role === 'editor' || role === 'admin');
}

function rolesOf({ role, projects = [] }: Caller, names: readonly string[] | undefined): readonly string[] {
  const own = projects.filter(({ project }) => names === undefined || names.includes(project));
  return [role, ...own.map((each) => each.role)];
}
