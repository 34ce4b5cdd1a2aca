import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { AuditEntry } from '../../domain/audit.ts';
import { STRETCH } from '../../storage/places.ts';
import { ENGINES, openTestStore, type TestEngine } from '../../storage/test-engines.ts';
import {
  ADA,
  changing,
  makeEnvironment,
  makeFlag,
  makeProject,
  writeState,
} from '../../storage/test-records.ts';
import { insertEnvironment, readEnvironments } from '../environments/environment-table.ts';
import { storeFlag } from '../flags/flag-table.ts';
import { insertProject } from '../projects/project-table.ts';
import { readAuditPage } from './audit-query.ts';
import type { AuditFilter } from './audit-search-query.ts';

setDefaultTimeout(60_000);

const BOT = { ...ADA, name: 'token:bot' };
const EVE = { ...ADA, name: 'operator:eve@example.com' };

describe.each(ENGINES)('the history of an environment or an actor on $name', (engine: TestEngine) => {
  test('has every entry, although their indexes leave most of them out', async () => {
    await using home = await openTestStore(engine);
    const { store, database } = home;
    const project = makeProject();
    const environments = ['production', 'staging', 'quiet'].map((name) => makeEnvironment(project, name));
    const [production, staging, quiet] = environments;
    if (production === undefined || staging === undefined || quiet === undefined)
      throw new Error('no places');

    const setFlag = (index: number, { name }: { readonly name: string }) =>
      writeState(store, {
        project: project.name,
        environment: name,
        key: `flag-${index % 20}`,
        actor: index % 3 === 0 ? BOT : ADA,
        next: () => JSON.stringify({ enabled: true, value: index }),
      });
    const setMany = (value: number) =>
      store.commit(EVE, async (tx) => {
        for (const place of (await readEnvironments(tx, project.id)).filter(({ name }) => name !== 'staging'))
          await changing(place, ...['a', 'b', 'c'].map((key) => [key, `{"value":${value}}`] as const))(tx);
      });

    await store.commit(ADA, async (tx) => {
      await insertProject(tx, project);
      for (const environment of environments) await insertEnvironment(tx, environment);
      for (const key of ['a', 'b', 'c']) await storeFlag(tx, makeFlag(project, key));
    });
    await setMany(1);
    for (let round = 0; round < 4; round++)
      await Promise.all(
        Array.from({ length: STRETCH }, (_, index) =>
          setFlag(round * STRETCH + index, index % 5 === 0 ? staging : production),
        ),
      );
    await setMany(2);
    await setFlag(0, staging);

    const { entries: all } = await readAuditPage(store, { limit: 10_000 });
    const filters: Omit<AuditFilter, 'limit'>[] = [
      ...environments.map(({ id }) => ({ environmentId: id })),
      ...[ADA, BOT, EVE].map(({ name }) => ({ actor: name })),
      { environmentId: staging.id, actor: BOT.name },
      { environmentId: production.id, beforeSeq: 100, text: 'FLAG-7' },
      { actor: EVE.name, projectId: project.id, since: 1 },
    ];
    const fits = (entry: AuditEntry, { environmentId, actor, beforeSeq, text }: (typeof filters)[number]) =>
      (environmentId === undefined || entry.environmentId === environmentId) &&
      (actor === undefined || entry.actor === actor) &&
      (beforeSeq === undefined || entry.seq < beforeSeq) &&
      (text === undefined || entry.target === text.toLowerCase());

    for (const filter of filters) {
      const found: AuditEntry[] = [];
      for (let after: AuditFilter['after'], isEnd = false; !isEnd; ) {
        const page = await readAuditPage(store, { ...filter, limit: 23, ...(after && { after }) });
        found.push(...page.entries);
        after = page.next;
        isEnd = after === undefined;
      }
      const expected = all.filter((entry) => fits(entry, filter));
      expect(found.map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
      expect(found.length).toBeGreaterThan(0);
    }

    const [counts] = await database.query<{ indexed: number }>(
      'SELECT count(*) AS indexed FROM audit_log WHERE repeated IS NULL',
    );
    expect(Number(counts?.indexed)).toBeLessThan(all.length);
  });
});
