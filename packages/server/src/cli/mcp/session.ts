import { z } from 'zod';
import { type ApiClient, type ApiRequest, apiPath, type Wish } from '../api-client.ts';
import { CliError, EXIT } from '../cli-error.ts';

const RoleSchema = z.object({ role: z.string(), canChangeProtected: z.boolean() });

/** What the server says about the owner of the token. */
const CallerSchema = RoleSchema.extend({
  name: z.string(),
  projects: z.array(RoleSchema.extend({ project: z.string() })).optional(),
  only: z.string().optional(),
});

/** The owner of the token, with its rights. */
export type Caller = z.infer<typeof CallerSchema>;

/** What an agent may do, whatever its token could. */
export interface AgentLimits {
  /** Whether there are tools that change something. */
  readonly mayWrite: boolean;
  /** Whether protected environments may be changed directly. */
  readonly allowProtected: boolean;
  /** Only these; default: all that the token sees. */
  readonly projects?: readonly string[];
  readonly environments?: readonly string[];
}

/** What the tools work with: the management API as the caller sees it, within the limits of the agent. */
export interface McpSession extends AgentLimits {
  readonly caller: Caller;
  /** The API with the token of the caller; a client that proposes sends every write as a proposal. */
  readonly connect: (wish?: Wish) => ApiClient;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Takes failures that are no refusal. */
  readonly report: (error: unknown) => void;
}

/** Asks the server who the caller is. Rejects with what the server or the connection says. */
export async function openSession(parts: Omit<McpSession, 'caller'>): Promise<McpSession> {
  const { text } = await parts.connect().request({ path: apiPath`/whoami` });
  return { ...parts, caller: CallerSchema.parse(JSON.parse(text)) };
}

/** A refusal of a tool, with what the agent needs to go on: the present state, or a command line for a person. */
export class Refusal extends Error {
  readonly code: string;
  readonly details: object;

  constructor(code: string, message: string, details: object = {}) {
    super(message);
    this.code = code;
    this.details = details;
  }
}

/** Reads from the API. The shape is the API's contract. */
export async function readJson<T>({ connect }: McpSession, request: ApiRequest): Promise<T> {
  const { text } = await connect().request(request);
  // As the docstring says.
  return JSON.parse(text) as T;
}

/** Reads what may not exist: `undefined` then. */
export async function readOptional<T>(session: McpSession, request: ApiRequest): Promise<T | undefined> {
  try {
    return await readJson<T>(session, request);
  } catch (error) {
    if (error instanceof CliError && error.exitCode === EXIT.notFound) return undefined;
    throw error;
  }
}

/** Refuses a project outside of the limits. */
export function requireProject({ projects }: McpSession, project: string): void {
  if (projects === undefined || projects.includes(project)) return;
  throw new Refusal('forbidden', `This agent is limited to ${projects.join(', ')}.`);
}

/** Refuses an environment outside of the limits. */
export function requireEnvironment(session: McpSession, environment: string): void {
  if (showsEnvironment(session, environment)) return;
  throw new Refusal('forbidden', `This agent is limited to ${session.environments?.join(', ')}.`);
}

/** Whether an environment is within the limits. What belongs to none is. */
export function showsEnvironment({ environments }: AgentLimits, environment: string | undefined): boolean {
  return environments === undefined || environment === undefined || environments.includes(environment);
}

/** The members of a record whose names are environments within the limits. */
export function shownEnvironments<T>(
  session: McpSession,
  record: Readonly<Record<string, T>>,
): readonly (readonly [string, T])[] {
  return Object.entries(record).filter(([name]) => showsEnvironment(session, name));
}
