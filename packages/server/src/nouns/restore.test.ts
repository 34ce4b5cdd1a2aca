import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { HOUR_MS } from '../domain/clock.ts';
import { backUp } from '../storage/backup.ts';
import type { DatabasePlace } from '../storage/database-copy.ts';
import { SqlStore } from '../storage/store.ts';
import { BackupPlaces, HALYARD, open } from '../storage/test-backups.ts';
import { ADA, seed } from '../storage/test-records.ts';
import { insertInvitation, readOpenInvitations } from './people/invitation-table.ts';
import { restore } from './restore.ts';
import { insertPlan, readPlan } from './rollouts/rollout-table.ts';
import { insertSchedule, readSchedule } from './schedules/schedule-table.ts';

setDefaultTimeout(60_000);

const places = new BackupPlaces();
afterAll(places.remove);

describe.each(['sqlite', 'postgres'])(
  'a backup of %s with schedules, a rollout plan and an invitation',
  (engine) => {
    const NOW = 1_790_000_000_000;
    const [late, later] = [NOW + HOUR_MS, NOW + 3 * HOUR_MS];

    /** A place in which one schedule and the step of a plan are due in an hour, and another schedule in three. */
    async function plannedPlace(): Promise<DatabasePlace> {
      const place = await places.empty(engine);
      await using database = await open(place);
      const store = new SqlStore(database);
      const { project, environment } = await seed(store, ['checkout']);
      const where = { projectId: project.id, environmentId: environment.id };
      const made = { createdBy: ADA.name, createdAt: NOW };
      await store.commit(ADA, async (tx) => {
        const schedule = { ...where, ...made, changes: '[]', status: 'pending' } as const;
        await insertSchedule(tx, { ...schedule, id: 'late', dueAt: late });
        await insertSchedule(tx, { ...schedule, id: 'later', dueAt: later });
        await insertPlan(tx, {
          ...where,
          ...made,
          id: 'plan',
          flagKey: 'checkout',
          steps: '[{"rolloutPct":10}]',
          fromPct: 0,
          runsAs: ADA.name,
          runsSince: NOW,
          status: 'running',
          statusAt: NOW,
          statusBy: ADA.name,
          nextStep: 0,
          dueAt: late,
          ran: '[]',
        });
        const rights = { role: 'viewer', canChangeProtected: false } as const;
        const link = { id: 'link', kind: 'invite', email: 'bob@example.com', ...rights, ...made } as const;
        await insertInvitation(tx, { ...link, expiresAt: later }, 'digest');
      });
      return place;
    }

    async function statusesIn(place: DatabasePlace) {
      await using database = await open(place);
      return await new SqlStore(database).read(async (db) => ({
        late: await readSchedule(db, 'late'),
        later: (await readSchedule(db, 'later'))?.status,
        plan: await readPlan(db, 'plan'),
        links: (await readOpenInvitations(db, NOW)).length,
      }));
    }

    test('carries out nothing that came due since, and ends links that may have been used', async () => {
      const [place, file] = [await plannedPlace(), places.file()];
      const { header } = await backUp(place, file, HALYARD);
      const { interrupted } = await restore(file, place, { replace: true, now: NOW + 2 * HOUR_MS });
      expect(interrupted).toEqual({
        failedSchedules: 1,
        pendingSchedules: 1,
        pausedPlans: 1,
        endedProposals: 0,
        endedLinks: 1,
      });
      const { late, later, plan, links } = await statusesIn(place);
      const reason = expect.stringContaining(`restored from the backup of ${header.createdAt}`);
      expect(late).toMatchObject({ status: 'failed', outcome: reason });
      expect(plan).toMatchObject({ status: 'paused', reason, statusBy: 'system' });
      expect(plan?.dueAt).toBeUndefined();
      expect([later, links]).toEqual(['pending', 0]);
      await using database = await open(place);
      const entries = await database.query<{ action: string; note: string }>(
        "SELECT action, note FROM audit_log WHERE actor = 'system' ORDER BY action",
      );
      expect(entries.map(({ action }) => action)).toEqual([
        'invitation.revoked',
        'rollout.paused',
        'schedule.failed',
      ]);
      for (const { note } of entries) expect(note).toContain(header.createdAt);
    });

    test('stops all that came due, also where it is more than is read at once', async () => {
      const [place, file] = [await plannedPlace(), places.file()];
      {
        await using database = await open(place);
        const columns = 'project_id, environment_id, changes, created_by, created_at, due_at, status';
        await database.query(
          `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 500)
          INSERT INTO scheduled_changes (id, ${columns})
          SELECT 'late-' || n, ${columns} FROM scheduled_changes, numbers WHERE id = 'late'`,
        );
      }
      await backUp(place, file, HALYARD);
      const { interrupted } = await restore(file, place, { replace: true, now: NOW + 2 * HOUR_MS });
      expect(interrupted).toMatchObject({ failedSchedules: 501, pendingSchedules: 1 });
    });

    test('carries on where that is asked for', async () => {
      const [place, file] = [await plannedPlace(), places.file()];
      await backUp(place, file, HALYARD);
      const wish = { replace: true, runOverdue: true, now: NOW + 2 * HOUR_MS } as const;
      const { interrupted } = await restore(file, place, wish);
      expect(interrupted).toEqual({
        failedSchedules: 0,
        pendingSchedules: 2,
        pausedPlans: 0,
        endedProposals: 0,
        endedLinks: 1,
      });
      const { late, plan } = await statusesIn(place);
      expect([late?.status, plan?.status]).toEqual(['pending', 'running']);
    });
  },
);
