import { PLAIN_APPEARANCE } from '../domain/project.ts';
import { openSqlite } from './engines/sqlite.ts';
import { SqlStore } from './store.ts';
import { ADA, changing } from './test-records.ts';

/**
 * A process of its own for the crash test: writes to the database named by its first argument for as long as it
 * lives, and prints each revision once it is acknowledged.
 */
const [path = '', environmentId = ''] = process.argv.slice(2);
const store = new SqlStore(await openSqlite({ path }));
const place = { id: environmentId, projectId: '', name: 'production', revision: 0, createdAt: 0 };
const environment = { ...place, ...PLAIN_APPEARANCE };
for (let turn = 0; ; turn++) {
  const state = `{"enabled":true,"value":"${process.pid}-${turn}"}`;
  const { result } = await store.commit(ADA, changing(environment, ['checkout', state]));
  process.stdout.write(`${result.revision}\n`);
}
