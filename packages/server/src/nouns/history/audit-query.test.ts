import { expect, test } from 'bun:test';
import type { Queryable } from '../../storage/database.ts';
import { ENGINES, openTestStore } from '../../storage/test-engines.ts';
import { readAuditPage } from './audit-query.ts';
import type { AuditFilter } from './audit-search-query.ts';

const [SQLITE] = ENGINES;
if (SQLITE?.name !== 'sqlite') throw new Error('the first engine is SQLite');

test.each<Omit<AuditFilter, 'limit'>>([
  {},
  { withoutPeople: true },
  { text: 'ticket' },
  { action: 'key' },
  { projectIds: ['a', 'b'] },
  { actor: 'token:admin' },
  { since: 1, until: 2 },
  { until: 2, beforeSeq: 5, after: [3, 1, 0] },
])('SQLite finds the page of audit entries for %j through an index', async (filter) => {
  await using home = await openTestStore(SQLITE);
  const plans: string[] = [];
  const explaining: Queryable = {
    query: async (text, parameters) => {
      const plan = await home.database.query<{ detail: string }>(`EXPLAIN QUERY PLAN ${text}`, parameters);
      plans.push(...plan.map(({ detail }) => detail));
      // SQLite goes to the first bound, and reads every entry up to a second one.
      for (const bound of ['>', '<']) expect(text.split(` seq ${bound}`).length, text).toBeLessThanOrEqual(2);
      return await home.database.query(text, parameters);
    },
  };
  await readAuditPage(explaining, { ...filter, limit: 50 });
  expect(plans).not.toContain('SCAN audit_log');
  expect(plans.join('\n')).toContain('audit_log USING INDEX');
});
