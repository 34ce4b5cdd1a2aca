import type { History } from './history.ts';
import type { Timelines } from './timelines.ts';
import type { Report } from './violation.ts';

/** Something a node said about an environment's revision. */
interface Statement {
  readonly revision: number;
  /**
   * When it was asked: it must be at least as new as everything this node had said before. Absent for what came
   * unasked: a frame in the middle of a stream.
   */
  readonly askedAt?: number;
  /** When its answer was there: later questions must get at least this. */
  readonly knownAt: number;
  readonly what: string;
  /** The answer said that it may be old. */
  readonly isStale?: boolean;
  /** A write that was acknowledged before this process gave its first current answer. */
  readonly isEarlier?: boolean;
}

/**
 * P7 and P8: one node never goes back. Whatever is asked of a node after it acknowledged a write or showed a
 * revision is answered with that revision or a newer one, across restarts too. Of a node with several processes each
 * never goes back, and all of them know every write that was acknowledged; but a process that starts from the last known
 * flags may lack the writes of the seconds before, as long as it says that it may be old.
 */
export function checkNodesNeverGoBack(history: History, ownWriteMs: number, report: Report): void {
  for (const [place, statements] of gatherStatements(history, ownWriteMs)) {
    const asked = statements.filter(isAnswer).sort((a, b) => a.askedAt - b.askedAt);
    const known = [...statements].sort((a, b) => a.knownAt - b.knownAt);
    let newest: Statement | undefined;
    let newestOwn: Statement | undefined;
    let next = 0;
    for (const statement of asked) {
      for (; next < known.length; next += 1) {
        const candidate = known[next];
        if (candidate === undefined || candidate.knownAt >= statement.askedAt) break;
        if (newest === undefined || candidate.revision > newest.revision) newest = candidate;
        if (candidate.isEarlier) continue;
        if (newestOwn === undefined || candidate.revision > newestOwn.revision) newestOwn = candidate;
      }
      const best = statement.isStale ? newestOwn : newest;
      if (best === undefined || statement.revision >= best.revision) continue;
      report({
        kind: 'went-back',
        at: statement.knownAt,
        environment: place.environment,
        subject: place.node,
        story: `${place.node} had shown revision ${best.revision} of ${place.environment} (${best.what}) and ${Math.round(statement.askedAt - best.knownAt)} ms later was asked and answered with revision ${statement.revision} (${statement.what}).`,
      });
    }
  }
}

function isAnswer(statement: Statement): statement is Statement & { readonly askedAt: number } {
  return statement.askedAt !== undefined;
}

interface Place {
  readonly node: string;
  readonly environment: string;
}

function gatherStatements(history: History, ownWriteMs: number): ReadonlyMap<Place, readonly Statement[]> {
  const byName = new Map<string, { place: Place; statements: Statement[] }>();
  const add = (node: string, environment: string, statement: Statement): void => {
    const name = `${node} ${environment}`;
    const entry = byName.get(name) ?? { place: { node, environment }, statements: [] };
    entry.statements.push(statement);
    byName.set(name, entry);
  };

  const processes = processesOf(history);
  const currentSince = firstCurrentAnswers(history);
  for (const { node, environment, revision, startedAt, finishedAt, id, outcome } of history.writes) {
    if (outcome !== 'acknowledged' || revision === undefined) continue;
    // A node waits only so long to see its own write; then it answers that the write is committed, without having applied it.
    if (finishedAt - startedAt >= ownWriteMs) continue;
    for (const process of processes.get(node) ?? [undefined]) {
      const name = nameOf(node, process);
      const isEarlier = process !== undefined && finishedAt < (currentSince.get(name) ?? Infinity);
      const times = { askedAt: startedAt, knownAt: finishedAt };
      add(name, environment, { revision, ...times, what: `write ${id}`, isEarlier });
    }
  }

  for (const { node, process, environment, revision, requestedAt, answeredAt, freshness } of history.reads) {
    if (revision === undefined) continue;
    add(nameOf(node, process), environment, {
      revision,
      askedAt: requestedAt,
      knownAt: answeredAt,
      what: `a ${freshness} read`,
      isStale: freshness === 'stale',
    });
  }

  for (const stream of [...history.streams, ...history.eventStreams]) {
    for (const [index, frame] of stream.frames.entries()) {
      add(nameOf(stream.node, stream.process), stream.environment, {
        revision: stream.revision + index,
        ...(index === 0 ? { askedAt: stream.requestedAt } : {}),
        knownAt: frame.at,
        what: `frame ${index} of stream ${stream.id}`,
      });
    }
  }

  return new Map([...byName.values()].map(({ place, statements }) => [place, statements]));
}

/** When each process of each node answered for the first time without saying that it may be old, by name. */
function firstCurrentAnswers({ reads, streams, eventStreams }: History): ReadonlyMap<string, number> {
  const first = new Map<string, number>();
  const note = (name: string, at: number) => first.set(name, Math.min(at, first.get(name) ?? Infinity));
  for (const { node, process, revision, freshness, answeredAt } of reads) {
    if (revision !== undefined && freshness === 'current') note(nameOf(node, process), answeredAt);
  }
  for (const { node, process, openedAt } of [...streams, ...eventStreams])
    note(nameOf(node, process), openedAt);
  return first;
}

/** The processes of each node that has several. */
function processesOf(history: History): ReadonlyMap<string, ReadonlySet<string>> {
  const byNode = new Map<string, Set<string>>();
  for (const { node, process } of [...history.reads, ...history.streams, ...history.eventStreams]) {
    if (process === undefined) continue;
    const processes = byNode.get(node) ?? new Set();
    processes.add(process);
    byNode.set(node, processes);
  }
  return byNode;
}

function nameOf(node: string, process: string | undefined): string {
  return process === undefined ? node : `${node}, process ${process}`;
}

/**
 * P1 for reads: the map of a read is the revision that its header says. A node that starts from its last known flags may
 * show a state from before the record, of which nothing is known, as long as it says that it may be old.
 */
export function checkReads(history: History, timelines: Timelines, report: Report): void {
  for (const read of history.reads) {
    if (read.content === undefined || read.revision === undefined) continue;
    if (read.freshness === 'stale' && read.revision < timelines.of(read.environment).base.revision) continue;
    const placed = timelines.place(read.environment, read.content);
    if ('revision' in placed && placed.revision === read.revision) continue;
    report({
      kind: 'revision' in placed ? 'wrong-revision' : placed.kind,
      at: read.answeredAt,
      environment: read.environment,
      subject: read.node,
      story: `A read of ${read.environment} on ${read.node} said revision ${read.revision}. ${'revision' in placed ? `Its map is revision ${placed.revision}.` : placed.story}`,
    });
  }
}
