import type { History } from './checker/history.ts';
import { VIOLATION_KINDS, type Violation } from './checker/violation.ts';

/** How many violations are described; the rest are counted. */
const STORIES = 10;

/** A campaign's outcome as text for a person. */
export function summarise(
  history: History,
  faults: ReadonlyMap<string, number>,
  violations: readonly Violation[],
): string {
  const writes = (outcome: string): number =>
    history.writes.filter((write) => write.outcome === outcome).length;
  const frames = history.streams.reduce((sum, stream) => sum + stream.frames.length, 0);
  const events = history.eventStreams.reduce((sum, stream) => sum + stream.frames.length, 0);
  const eventEnds = countBy(history.eventStreams.map((stream) => stream.ended?.how ?? 'open at the end'));
  const caused = history.reads.filter(({ after }) => after !== undefined).length;
  const ends = countBy(history.streams.map((stream) => stream.ended?.how ?? 'open at the end'));
  const answers = countBy(history.reads.map((read) => `${read.kind} ${read.status} ${read.freshness}`));
  const lines = [
    `changes   ${writes('acknowledged')} acknowledged, ${writes('refused')} refused, ${writes('unknown')} unknown`,
    `streams   ${history.streams.length} opened, ${frames} frames; ended: ${describe(ends)}`,
    `events    ${history.eventStreams.length} streams opened, ${events} events, ${caused} reads for them; ended: ${describe(eventEnds)}`,
    `reads     ${describe(answers)}`,
    `clients   ${describeClients(history)}`,
    `lag       ${describeLag(history)}`,
    `losses    ${history.losses.length} times a node said that it lost the log`,
    `waits     ${describeWaits(history)}`,
    `silence   ${describeSilence(history)}`,
    `keys      ${history.endedKeys.length} ended`,
    `faults    ${describe(faults)}`,
    `violations ${violations.length}${violations.length === 0 ? '' : `: ${describe(countBy(violations.map(({ kind }) => kind)))}`}`,
    ...violations.slice(0, STORIES).map((violation) => tellStory(violation, history)),
    ...(violations.length > STORIES ? [`… and ${violations.length - STORIES} more.`] : []),
  ];
  return lines.join('\n');
}

/** One violation as a paragraph. */
export function tellStory(violation: Violation, history: History): string {
  const startedAt = Math.min(history.endedAt, ...history.writes.slice(0, 1).map((write) => write.startedAt));
  const second = ((violation.at - startedAt) / 1_000).toFixed(1);
  return `- [${violation.kind}] ${VIOLATION_KINDS[violation.kind]}. At ${second} s, ${violation.subject}: ${violation.story}`;
}

/** Milliseconds from a writer's acknowledgement to the frame on streams that were open by then. */
function describeLag(history: History): string {
  const acknowledgedAt = new Map<string, number>();
  for (const { environment, revision, finishedAt, outcome } of history.writes) {
    if (outcome === 'acknowledged') acknowledgedAt.set(`${environment} ${revision}`, finishedAt);
  }
  const lags: number[] = [];
  for (const stream of history.streams) {
    for (const [index, frame] of stream.frames.entries()) {
      const at = acknowledgedAt.get(`${stream.environment} ${stream.revision + index}`);
      if (index > 0 && at !== undefined) lags.push(Math.max(0, frame.at - at));
    }
  }
  lags.sort((a, b) => a - b);
  const at = (share: number): string => (lags[Math.floor((lags.length - 1) * share)] ?? 0).toFixed(1);
  return `from acknowledgement to frame: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, worst ${at(1)} ms`;
}

/** How many changes each client library showed, and how long after their acknowledgment. */
function describeClients({ clients = [], writes }: History): string {
  const acknowledgedAt = new Map(writes.map(({ id, finishedAt }) => [id, finishedAt]));
  const shown = clients.map(({ reader, sightings }) => {
    const lags = sightings
      .map(({ at, writeId }) => Math.max(0, at - (acknowledgedAt.get(writeId ?? 0) ?? at)))
      .sort((a, b) => a - b);
    const worst = (lags.at(-1) ?? 0).toFixed(0);
    return `${reader} ${sightings.length} changes (p50 ${(lags[lags.length >> 1] ?? 0).toFixed(1)} ms, worst ${worst} ms)`;
  });
  return shown.join(', ') || 'none';
}

/** How long each node, or the readers, waited for a processor. */
function describeWaits({ cpuWaits = [] }: History): string {
  const byNode = new Map<string, number>();
  for (const { node, ms } of cpuWaits) byNode.set(node, (byNode.get(node) ?? 0) + ms);
  const seconds = [...byNode].map(([node, ms]) => `${node} ${Math.round(ms / 1_000)} s`);
  return `for a processor: ${seconds.sort().join(', ') || 'none'}`;
}

/** For how long at most a node whose workers were killed answered nothing. */
function describeSilence({ silences = [] }: History): string {
  if (silences.length === 0) return 'not looked for';
  const longestMs = Math.max(...silences.map(({ ms }) => ms));
  return `at most ${Math.round(longestMs)} ms without an answer of /healthz while workers were killed`;
}

function countBy(names: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

function describe(counts: ReadonlyMap<string, number>): string {
  if (counts.size === 0) return 'none';
  return [...counts]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, count]) => `${count} ${name}`)
    .join(', ');
}
