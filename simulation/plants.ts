/** One line of the product, broken. */
export interface Plant {
  readonly name: string;
  /** The file, below `packages/`. */
  readonly file: string;
  /** What stands there, once, and what is put in its place. */
  readonly from: string;
  readonly to: string;
}

const SERVER = 'server/src/evaluation';
const NOUNS = 'server/src/nouns';

/** Faults that a history must find. Each is one that was made once, or that a reader of the code would fear. */
export const PLANTS: readonly Plant[] = [
  {
    name: 'older snapshot is loaded',
    file: `${SERVER}/replication/history-check.ts`,
    from: 'if (isSame && (isLost || loaded.seq < cursor.seq))',
    to: 'if (false)',
  },
  {
    name: 'rows in the places of lost ones are not noticed',
    file: `${SERVER}/replication/history-check.ts`,
    from: "|| (place && (await find(session, cursor)) === 'lost')",
    to: '',
  },
  {
    name: 'an earlier epoch is loaded',
    file: 'server/src/domain/epoch.ts',
    from: 'return numberOf(epoch) === 0 || numberOf(epoch) < numberOf(other);',
    to: 'return true;',
  },
  {
    name: 'another history of its epoch is loaded',
    file: `${SERVER}/replication/history-check.ts`,
    from: "(place === 'lost' || (place && (await find(session, cursor)) === 'lost'))",
    to: 'false',
  },
  {
    name: 'behind is not answered',
    file: `${SERVER}/log/log-server.ts`,
    from: 'if (from !== undefined && (await this.#history.lacks(id, from))) return behind(from);',
    to: '',
  },
  {
    name: 'scope is not in the cursor',
    file: `${SERVER}/log/log-server.ts`,
    from: 'const scope = nameIn(cursor, follower.scope);',
    to: "const scope = 'all';",
  },
  {
    name: 'current without a proof',
    file: `${SERVER}/freshness.ts`,
    from: 'return this.#isCurrent && this.#options.follower.sinceProofMs() <= PROOF_MS;',
    to: 'return this.#options.follower.isLive;',
  },
  {
    name: 'reads before the first proof',
    file: `${SERVER}/freshness.ts`,
    from: 'follower.hasSnapshot && Number.isFinite(sinceProofMs) && sinceProofMs <= this.#maxStaleMs;',
    to: 'follower.hasSnapshot && sinceProofMs <= this.#maxStaleMs;',
  },
  {
    name: 'ages are not added',
    file: `${SERVER}/log/remote-session.ts`,
    from: 'this.#clock.sentAt(performance.now(), sentMs) - ageMs;',
    to: 'this.#clock.sentAt(performance.now(), sentMs);',
  },
  {
    name: 'proof when answered',
    file: `${SERVER}/replication/follower.ts`,
    from: 'this.#provenAt = head.provenAt ?? askedAt;',
    to: 'this.#provenAt = head.provenAt ?? performance.now();',
  },
  {
    name: 'silence is not noticed',
    file: `${SERVER}/log/remote-session.ts`,
    from: 'if (this.#room !== undefined || performance.now() - this.#heardAt < SILENCE_MS) return;',
    to: 'return;',
  },
  {
    name: 'streams stay open at a loss',
    file: `${SERVER}/read-plane.ts`,
    from: "this.hub.closeAll('listener');",
    to: '',
  },
  {
    name: 'a change leaves out what is removed',
    file: `${SERVER}/catalog/live-environment.ts`,
    from: 'if (state === null) removed.push(key);',
    to: 'if (state === null) continue;',
  },
  {
    name: 'a change names the wrong revision before it',
    file: `${SERVER}/catalog/live-environment.ts`,
    from: 'changeEvent({ from: to - 1, to, removed }',
    to: 'changeEvent({ from: to, to, removed }',
  },
  {
    name: 'changes begin with an older map',
    file: `${SERVER}/catalog/live-environment.ts`,
    from: 'this.#wholeChange = undefined;',
    to: '',
  },
  {
    name: 'rows handed over are not compared',
    file: `${SERVER}/replication/follower.ts`,
    from: 'return cursor.epoch === epoch && cursor.seq === seq && cursor.changeId === changeId;',
    to: 'return cursor.seq === seq;',
  },
  {
    name: 'wake is forgotten',
    file: `${SERVER}/replication/follower.ts`,
    from: 'if (applied === 0 || applied < rows.length) alarm.ring();',
    to: '',
  },
  {
    name: 'records are not a copy',
    file: `${SERVER}/catalog/key-index.ts`,
    from: 'environments: [...(opened[index] ?? []), ...(deleted[index] ?? [])],',
    to: 'environments: [...(entries[index]?.environments ?? []), ...(entries[index]?.deleted ?? [])],',
  },
  {
    name: 'judges without a catalog',
    file: `${SERVER}/serving/access.ts`,
    from: 'if (!freshness.canRead()) throw',
    to: 'if (false) throw',
  },
  {
    name: 'clock offset is never raised',
    file: `${SERVER}/log/clock-offset.ts`,
    from: 'this.#offset = Math.max(this.#offset, askedAt - sentMs);',
    to: '',
  },
  {
    name: 'last row is not compared',
    file: `${SERVER}/replication/follower.ts`,
    from: 'if (found !== undefined && found !== changeId)',
    to: 'if (false)',
  },
  {
    name: 'seal is ignored',
    file: `${SERVER}/log/shared-history.ts`,
    from: '(mayBeLost && (await this.hasLost(from))) || isBeyond()',
    to: 'isBeyond()',
  },
  {
    name: 'a closed follower goes on',
    file: `${SERVER}/replication/follower.ts`,
    from: 'if (this.#closing.signal.aborted) return;',
    to: '',
  },
  {
    name: 'a revoked key keeps its streams',
    file: `${SERVER}/catalog/catalog.ts`,
    from: 'this.keys.remove(digest);\n        this.#callbacks.keyGone(id);',
    to: 'this.keys.remove(digest);',
  },
  {
    name: 'an expired key keeps its streams',
    file: `${SERVER}/catalog/catalog.ts`,
    from: 'for (const keyId of this.keys.takeExpired()) this.#callbacks.keyGone(keyId);',
    to: 'this.keys.takeExpired();',
  },
  {
    name: 'an old key opens a new environment',
    file: `${SERVER}/catalog/catalog.ts`,
    from: 'this.keys.removeEnvironment(environment.projectId, environment.name);',
    to: '',
  },
  {
    name: 'a slow reader misses a frame',
    file: `${SERVER}/streaming/channel.ts`,
    from: 'if (bytes !== undefined && !subscriber.send(bytes)) this.#onSlow(subscriber);',
    to: 'if (bytes !== undefined) subscriber.send(bytes);',
  },
  {
    name: 'a backlog continues at any change',
    file: `${SERVER}/log/backlog.ts`,
    from: 'return changeId === cursor.changeId;',
    to: 'return true;',
  },
  {
    name: 'a backlog is not begun anew',
    file: `${SERVER}/log/log-server.ts`,
    from: 'this.#backlog.restart(this.#history.seal(cursor));',
    to: 'if (!this.#backlog.holds(cursor.seq)) this.#backlog.restart(cursor);',
  },
  {
    name: 'no epoch begins',
    file: `${SERVER}/replication/history-check.ts`,
    from: "if (cursor !== undefined && place === 'lost') await source.beginEpochAfter?.(cursor);",
    to: '',
  },
  {
    name: 'rows of another epoch are applied',
    file: `${SERVER}/replication/follower.ts`,
    from: 'if (epoch !== undefined && epoch !== this.#cursor.epoch)',
    to: 'if (false)',
  },
  {
    name: 'a heartbeat without its rows',
    file: `${SERVER}/replication/follower.ts`,
    from: 'if (head.seq > this.seq) await this.#drain(session);',
    to: '',
  },
  {
    name: 'removed rows are not missed',
    file: `${SERVER}/replication/follower.ts`,
    from: 'if (head.seq > this.seq) throw',
    to: 'if (false) throw',
  },
  {
    name: 'a snapshot counts as a continuation',
    file: `${SERVER}/log/remote-session.ts`,
    from: 'const base = this.#isJoined ? this.#base : undefined;',
    to: 'const base = this.#base;',
  },
  {
    name: 'a lost session goes on',
    file: `${SERVER}/replication/follower.ts`,
    from: 'this.#alarm?.throwIfFailed();\n        this.#apply(row);',
    to: 'this.#apply(row);',
  },
  {
    name: 'no heartbeat without a proof',
    file: `${SERVER}/log/log-server.ts`,
    from: 'if (performance.now() - this.#heartbeatAt >= QUIET_MS) this.#beat();',
    to: '',
  },
  {
    name: 'a new token does not wait',
    file: `${SERVER}/log/log-server.ts`,
    from: 'if (isToken && this.#followerOf(request) === undefined) await this.#nextProof();',
    to: '',
  },
  {
    name: 'an epoch that is over is kept to',
    file: `${SERVER}/log/shared-history.ts`,
    from: 'lacks = await this.isOver(cursor);',
    to: '{}',
  },
  {
    name: 'a node listens before it has asked',
    file: 'server/src/nodes/start-from-last-known.ts',
    from: 'CURRENT_WITHIN_MS = 3000;',
    to: 'CURRENT_WITHIN_MS = 0;',
  },
  {
    name: 'a silent standby is current',
    file: 'server/src/storage/engines/standby-proof.ts',
    from: 'this.#begunAt ??= askedAt;',
    to: 'return askedAt;',
  },
  {
    name: 'last known flags are not synced',
    file: `${SERVER}/last-known/last-known-writer.ts`,
    from: 'await file.sync();',
    to: '',
  },
  {
    name: 'the names of last known flags are not synced',
    file: `${SERVER}/last-known/last-known-writer.ts`,
    from: 'await folder.sync().finally(() => folder.close());',
    to: 'await folder.close();',
  },
  {
    name: 'last known flags keep what was revoked',
    file: `${SERVER}/last-known/last-known-writer.ts`,
    from: "if (change === 'revoked' || change === 'reloaded') await this.#discard();",
    to: '',
  },
  {
    name: 'damaged last known flags are served',
    file: `${SERVER}/last-known/last-known-file.ts`,
    from: 'if (!isWhole)',
    to: 'if (false)',
  },
  {
    name: 'a damaged time is believed',
    file: `${SERVER}/last-known/last-known-file.ts`,
    from: 'proof === proofLine(provenAt, text)',
    to: 'true',
  },
  {
    name: 'a stream delays the first poll of the client',
    file: 'client/src/follow.ts',
    from: 'if (hasFailed === undefined) pollIn(0);',
    to: 'if (hasFailed === undefined) pollIn(error.retryInMs ?? 0);',
  },
  {
    name: 'rights and references are not checked at the commit',
    file: 'server/src/storage/author-check.ts',
    from: 'value === null)) throw new AssertionFailed();',
    to: 'value === null)) return;',
  },
  {
    name: 'a lost COMMIT counts as rolled back',
    file: 'server/src/storage/store.ts',
    from: 'if (first !== undefined) return',
    to: 'if (false) return',
  },
  {
    name: 'a lease is taken from its node',
    file: `${NOUNS}/webhooks/delivery-table.ts`,
    from: 'AND (leased_by = $2 OR leased_until IS NULL OR leased_until <= $3 OR leased_until > $5)',
    to: '',
  },
  {
    name: 'a lease ends during an attempt',
    file: `${NOUNS}/webhooks/webhook.ts`,
    from: 'LEASE_MS = 30_000',
    to: 'LEASE_MS = 3_000',
  },
  {
    name: 'a node without the lease settles',
    file: `${NOUNS}/webhooks/delivery-table.ts`,
    from: 'WHERE id = $1 AND leased_by = $2 AND position = $3 RETURNING',
    to: 'WHERE id = $1 RETURNING',
  },
  {
    name: 'a failed delivery moves on',
    file: `${NOUNS}/webhooks/webhook-runner.ts`,
    from: 'if (!(await this.#settle(target, { ...failed, deliveries: [delivery] }))) return undefined;',
    to: 'if (!(await this.#settle(target, { ...failed, cursor: seq, deliveries: [delivery] }))) return undefined;',
  },
  {
    name: 'a delivery that was ended early counts',
    file: `${NOUNS}/webhooks/webhook-runner.ts`,
    from: "if (attempt.outcome === 'delivered') {",
    to: 'if (attempt.status !== 500) {',
  },
  {
    name: 'a schedule is settled twice',
    file: `${NOUNS}/schedules/schedule-table.ts`,
    from: "WHERE id = $1 AND status = 'pending' RETURNING id",
    to: 'WHERE id = $1 RETURNING id',
  },
  {
    name: 'a step of a plan runs again',
    file: `${NOUNS}/rollouts/rollout-runner.ts`,
    from: "if (current?.status !== 'running' || current.nextStep !== plan.nextStep || current.dueAt !== plan.dueAt) {",
    to: 'if (current === undefined) {',
  },
  {
    name: 'what is due elsewhere is forgotten',
    file: `${NOUNS}/due-runner.ts`,
    from: 'return Math.min(POLL_MS, Math.max(0, nextDueAt - context.now()));',
    to: 'return Math.max(0, nextDueAt - context.now());',
  },
  {
    name: 'a lost COMMIT fails what was due',
    file: `${NOUNS}/due-runner.ts`,
    from: 'if (error instanceof StoreOutage || error instanceof ServiceError) throw error;',
    to: 'if (error instanceof StoreOutage || error instanceof ServiceError) return fail(error.message);',
  },
  {
    name: 'the client takes older maps',
    file: 'client/src/revision-gate.ts',
    from: "if (!isSighting || !isReset()) return 'keep';",
    to: '',
  },
  {
    name: 'the client keeps what a change removes',
    file: 'client/src/flags.ts',
    from: 'for (const key of removed as string[]) delete flags[key];',
    to: '',
  },
  {
    name: 'the client does not age',
    file: 'client/src/connection.ts',
    from: "if (self.status === 'ready') cancelLapse ??= setTimer(() => become('stale'), ms);",
    to: '',
  },
  {
    name: 'the client does not come back',
    file: 'client/src/follow.ts',
    from: 'cancelOpen = setTimer(open, backoff.delayAfter(error), hadStream);',
    to: '',
  },
  {
    name: 'first flags are ready',
    file: 'client/src/connection.ts',
    from: "self.status = isSighting ? 'ready' : 'stale';",
    to: "self.status = 'ready';",
  },
];
