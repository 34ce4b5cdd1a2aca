import { expect } from 'bun:test';
import type { NodeProcess } from '@halyard/testing';
import { Client } from '@modelcontextprotocol/client';
import { InMemoryTransport } from '@modelcontextprotocol/server';
import { ApiClient } from '../api-client.ts';
import { createMcpServer } from './server.ts';
import { type AgentLimits, openSession } from './session.ts';

/** What a tool answered. */
export interface ToolAnswer {
  readonly isError: boolean;
  /** The answer, which is one JSON document. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers by their members.
  readonly json: any;
  readonly text: string;
}

/** An agent that is connected. For tests. */
export interface Agent {
  readonly client: Client;
  call(name: string, input: Readonly<Record<string, unknown>>): Promise<ToolAnswer>;
  toolNames(): Promise<readonly string[]>;
}

/** A client of the SDK's as an agent. */
export function agentOf(client: Client): Agent {
  return {
    client,
    call: async (name, input) => {
      const {
        content,
        structuredContent,
        isError = false,
      } = await client.callTool({ name, arguments: input });
      expect(content).toHaveLength(1);
      const [part] = content;
      const text = part?.type === 'text' ? part.text : '';
      const json = JSON.parse(text);
      expect(structuredContent).toEqual(json);
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(8192);
      return { isError, json, text };
    },
    toolNames: async () => (await client.listTools()).tools.map(({ name }) => name).sort(),
  };
}

/** Connects an agent in this process to a node, as `halyard mcp` with these limits would. */
export async function agentAt(
  { url }: NodeProcess,
  token: string,
  limits: Partial<AgentLimits> = {},
): Promise<Agent> {
  const connection = { url, readUrl: url, token };
  const session = await openSession({
    mayWrite: true,
    allowProtected: false,
    ...limits,
    connect: (wish) => new ApiClient(connection, () => {}, wish),
    now: Date.now,
    report: (error) => {
      throw error;
    },
  });

  const [mine, its] = InMemoryTransport.createLinkedPair();
  await createMcpServer(session).connect(its);
  const client = new Client({ name: 'tests', version: '1' });
  await client.connect(mine);
  return agentOf(client);
}
