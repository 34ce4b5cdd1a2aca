import { join } from 'node:path';
import { Management, temporaryFolder } from '@halyard/testing';
import type { Violation } from './checker/violation.ts';
import { now } from './clock.ts';
import { untilDone } from './cpu-waits.ts';
import { type Fleet, managersOf } from './fleet-node.ts';
import type { World } from './world.ts';

const MAIN = join(import.meta.dir, '../packages/server/src/main.ts');

/** Names the first node or reader that lacks the newest state; `undefined` if none does. */
export type FindLaggard = () => Promise<string | undefined>;

/**
 * Restores a fleet from a backup that was taken while it was written to and broken. The history ends there, because
 * acknowledged changes are lost on purpose; nodes, relays and connected readers must end on the restored state.
 */
export class RestoreDrill implements Disposable {
  readonly #fleet: Fleet;
  readonly #folder = temporaryFolder();
  #backup: Promise<unknown> | undefined;
  #isOver = false;

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
  }

  /** Takes the backup as soon as the database accepts connections, even while nodes fail. */
  backUp({ prepare }: Pick<World, 'prepare'>): void {
    this.#backup ??= prepare('the backup', async () => {
      if (!this.#isOver) await this.#run('backup', this.#file);
    });
    this.#backup.catch(() => {
      // `restore` reports it.
    });
  }

  /** Restores the backup. Returns what was not as promised. */
  async restore(world: World, findLaggard: FindLaggard, withinMs: number): Promise<readonly Violation[]> {
    const { nodes, adminToken } = this.#fleet;
    const owners = nodes.filter(({ isRelay }) => !isRelay);
    await this.#backup;

    let laggard: string | undefined;
    const isConverged = async () => {
      laggard = await findLaggard();
      return laggard === undefined;
    };
    if (!(await untilDone(this.#fleet, isConverged, withinMs)))
      throw new Error(`not everybody is connected: ${laggard}`);

    for (const node of owners) await node.stop();
    await this.#run('restore', this.#file, '--replace');
    for (const node of owners) await node.start();

    const [manager] = managersOf(this.#fleet);
    if (manager === undefined) throw new Error('a fleet has a node that takes changes');
    const management = new Management({ url: manager.url, adminToken });
    const violations: Violation[] = [];
    const expectConverged = async (story: string) => {
      if (await untilDone(this.#fleet, isConverged, withinMs)) return;
      const common = { kind: 'not-converged', at: now(), subject: 'the restored fleet' } as const;
      violations.push({ ...common, story: `${story} ${laggard}.` });
    };

    await expectConverged('Not everybody holds the state that was restored from a backup.');
    for (const { project, environment } of world.places)
      await world.prepare('a change after the restore', () =>
        management.putState(project, environment, 'right', { enabled: true, value: 'after the restore' }),
      );
    await expectConverged('Not everybody holds a change that was made after a backup was restored.');
    return violations;
  }

  /** Removes the backup. A failed backup is not retried. */
  [Symbol.dispose](): void {
    this.#isOver = true;
    this.#folder.remove();
  }

  get #file(): string {
    return this.#folder.file('campaign.backup');
  }

  async #run(command: string, ...args: readonly string[]): Promise<void> {
    const { database = [] } = this.#fleet;
    const child = Bun.spawn([process.execPath, MAIN, command, ...args, ...database], {
      stdout: 'ignore',
      stderr: 'pipe',
    });
    const [code, text] = await Promise.all([child.exited, new Response(child.stderr).text()]);
    if (code !== 0) throw new Error(`halyard ${command} ended with ${code}: ${text}`);
  }
}
