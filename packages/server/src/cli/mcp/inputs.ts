import { FLAG_KEY_PATTERN, NAME_PATTERN } from '@halyard/protocol';
import { z } from 'zod';
import type { ToolCall } from './tool.ts';

/** Members of the inputs that several tools have. Their texts are what an agent reads. */
export const project = z.string().regex(NAME_PATTERN);
export const environment = z.string().regex(NAME_PATTERN);
export const key = z.string().regex(FLAG_KEY_PATTERN);
export const time = z.string().describe('ISO 8601 with zone');
export const cursor = z.string().max(4096).optional().describe('nextCursor of the last answer');

/** Why a change is made. The history keeps it. */
export const reason = z.string().trim().min(3).max(500).describe('Why; kept in the history');

/** The revision that the agent has read. */
export const expectedRevision = z
  .int()
  .min(0)
  .describe('Revision of this flag in this environment, from halyard_get_flag; 0 if it has no state there');

/** Any JSON, a type for each branch: some hosts drop a schema that says nothing, or several types at once. */
const anything = z.unknown();
const json = z.union([
  z.string(),
  z.number(),
  z.boolean(),
  z.null(),
  z.array(anything),
  z.record(z.string(), anything),
]);

/** Parts of a state to change. */
export const patch = z.strictObject({
  enabled: z.boolean().optional(),
  value: json.optional(),
  rolloutPct: z.number().min(0).max(100).optional().describe('Share of users while enabled'),
  unset: z.array(z.enum(['value', 'rolloutPct'])).optional(),
});

export type Patch = z.infer<typeof patch>;

/** The note of a change: the reason, and the program that asked for it. */
export function noteOf(text: string, { agent }: ToolCall): string {
  return `${text} (${agent} over MCP)`;
}
