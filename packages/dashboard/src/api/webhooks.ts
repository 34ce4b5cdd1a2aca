import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { useLiveEvent } from './live.tsx';
import { queryKeys } from './query-cache.ts';
import { api, readingList, request } from './request.ts';
import type { WebhookDelivery, WebhookRecord } from './types.ts';

/** The settings of a webhook; empty lists mean all. */
interface WebhookInput {
  readonly url: string;
  readonly format: WebhookRecord['format'];
  readonly environments: readonly string[];
  readonly events: readonly string[];
}

/** Stands for the project where webhooks belong to the whole installation. */
export const INSTALLATION = '';

function listOf(project: string): string {
  return project === INSTALLATION ? api`webhooks` : api`projects/${project}/webhooks`;
}

function pathOf(project: string, name: string): string {
  return `${listOf(project)}/${encodeURIComponent(name)}`;
}

/** The webhooks of a project, or of the {@link INSTALLATION}. Only administrators can read them. */
export function useWebhooks(project: string, isAllowed: boolean) {
  return useQuery({
    queryKey: queryKeys.webhooks(project),
    enabled: isAllowed,
    queryFn: readingList<WebhookRecord>(listOf(project), 'webhooks'),
    refetchInterval: ({ state }) => untilAttempt(state.data),
  });
}

/** How long after a change its messages have most likely been answered. */
const ANSWERED_MS = 2_000;

/** How long nodes take at most to notice that an attempt is due, in milliseconds. */
const NOTICED_MS = 5_000;

/** How long until the next attempt of a failing webhook has most likely been answered; `false` when none fails. */
function untilAttempt(webhooks: readonly WebhookRecord[] = []): number | false {
  const times = webhooks.flatMap(({ status, nextAttemptAt }) =>
    status === 'active' && nextAttemptAt !== undefined ? [Date.parse(nextAttemptAt)] : [],
  );
  return times.length > 0 && Math.max(NOTICED_MS, Math.min(...times) - Date.now() + ANSWERED_MS);
}

/** Refetches a project's webhooks shortly after each change of the project: deliveries are not in the live stream. */
export function useLiveWebhooks(project: string): void {
  const queries = useQueryClient();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  useLiveEvent('change', () => {
    clearTimeout(timer.current);
    const read = () => void queries.invalidateQueries({ queryKey: queryKeys.webhooks(project) });
    timer.current = setTimeout(read, ANSWERED_MS);
  });
}

/** The last attempts of a webhook, the newest first. */
export function useWebhookDeliveries(project: string, name: string) {
  return useQuery({
    queryKey: [...queryKeys.webhooks(project), name],
    queryFn: readingList<WebhookDelivery>(`${pathOf(project, name)}/deliveries`, 'deliveries'),
  });
}

/** Creates a webhook. Only this response contains the secret: keep it out of the cache. */
export function createWebhook(
  project: string,
  name: string,
  input: WebhookInput,
): Promise<WebhookRecord & { readonly secret: string }> {
  return request('POST', listOf(project), { body: { name, ...input } });
}

/** Changes, pauses or resumes a webhook, or skips all that waits. */
export function updateWebhook(
  project: string,
  name: string,
  change: Partial<WebhookInput> & { readonly status?: 'active' | 'paused'; readonly skipPending?: true },
): Promise<WebhookRecord> {
  return request('PATCH', pathOf(project, name), { body: change });
}

/** Skips the change that a webhook delivers next. */
export function skipWebhookChange(project: string, name: string, seq: number): Promise<WebhookRecord> {
  return request('POST', `${pathOf(project, name)}/skip`, { body: { seq } });
}

/** Replaces the signing secret. As with {@link createWebhook}, only this response contains it. */
export function rotateWebhook(
  project: string,
  name: string,
): Promise<WebhookRecord & { readonly secret: string }> {
  return request('POST', `${pathOf(project, name)}/rotate`, { body: {} });
}

/** Sends a test message and waits for the answer. */
export function testWebhook(project: string, name: string): Promise<WebhookDelivery> {
  return request('POST', `${pathOf(project, name)}/test`);
}

/** Sends the message of a change again and waits for the answer. */
export function replayWebhook(project: string, name: string, seq: number): Promise<WebhookDelivery> {
  return request('POST', `${pathOf(project, name)}/replay`, { body: { seq } });
}

/** Deletes a webhook. */
export function deleteWebhook(project: string, name: string): Promise<undefined> {
  return request('DELETE', pathOf(project, name));
}
