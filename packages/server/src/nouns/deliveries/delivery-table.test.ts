import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { type DeliveryReceipt, PRESENCE_MS, RECEIPT_RETENTION } from '../../domain/delivery.ts';
import type { Environment, Project } from '../../domain/project.ts';
import { ENGINES, openTestStore, type TestStore } from '../../storage/test-engines.ts';
import { ADA, makeEnvironment, makeFlag, makeProject } from '../../storage/test-records.ts';
import { insertEnvironment } from '../environments/environment-table.ts';
import { storeFlag } from '../flags/flag-table.ts';
import { insertProject } from '../projects/project-table.ts';
import { changeStates } from '../states/change-states.ts';
import { SqlDeliveryStore } from './delivery-table.ts';

setDefaultTimeout(60_000);

const DAY_MS = 86_400_000;

for (const engine of ENGINES) {
  describe(`SqlDeliveryStore on ${engine.name}`, () => {
    let home: TestStore;
    let store: SqlDeliveryStore;
    beforeAll(async () => {
      home = await openTestStore(engine);
      store = new SqlDeliveryStore(home.database);
    });
    afterAll(async () => home[Symbol.asyncDispose]());

    /** A project with one environment, in which as many changes are made; returns their places in the log. */
    async function makeChanges(name: string, count: number) {
      const project: Project = makeProject(name);
      let environment: Environment = makeEnvironment(project);
      await home.store.commit(ADA, async (tx) => {
        await insertProject(tx, project);
        environment = await insertEnvironment(tx, environment);
        await storeFlag(tx, makeFlag(project, 'a'));
      });
      const seqs: number[] = [];
      for (let n = 0; n < count; n++) {
        const { seq = 0 } = await home.store.commit(ADA, async (tx) => {
          await changeStates(tx, environment, [['a', `{"enabled":true,"value":${n}}`]]);
        });
        seqs.push(seq);
      }
      return { project, environment, seqs };
    }

    function receipt(seq: number, environmentId: string, rest: Partial<DeliveryReceipt> = {}) {
      return { seq, node: 'a', environmentId, streams: 3, seen: 2, slowestMs: 12.6, at: Date.now(), ...rest };
    }

    test('the receipts of a change come with its names, its revision and its time', async () => {
      const { environment, seqs } = await makeChanges('named', 1);
      const [seq = 0] = seqs;
      const at = Date.now();
      await store.saveReceipts([
        receipt(seq, environment.id, { node: 'b', at }),
        receipt(seq, environment.id, { at }),
      ]);
      const delivery = await store.delivery(seq);
      expect(delivery).toMatchObject({ seq, project: 'named', environment: 'production', revision: 1 });
      expect(Math.abs((delivery?.committedAt ?? 0) - Date.now())).toBeLessThan(60_000);
      const facts = { seq, environmentId: environment.id, streams: 3, seen: 2, slowestMs: 13, at };
      expect(delivery?.receipts).toEqual([
        { ...facts, node: 'a' },
        { ...facts, node: 'b' },
      ]);
      expect(await store.delivery(seq + 1)).toBeUndefined();
      expect(await store.receipts(seq, seq + 1)).toHaveLength(2);
    });

    test('lists the newest deliveries of a project first, up to the limit, without those of other projects', async () => {
      const { project, environment, seqs } = await makeChanges('listed', 5);
      const other = await makeChanges('other', 1);
      await store.saveReceipts(
        ['a', 'b'].flatMap((node) => seqs.map((seq) => receipt(seq, environment.id, { node }))),
      );
      await store.saveReceipts(other.seqs.map((seq) => receipt(seq, other.environment.id)));
      const list = await store.deliveries(project.id, { limit: 3 });
      expect(list.map(({ seq }) => seq)).toEqual(seqs.toReversed().slice(0, 3));
      expect(list.map(({ receipts }) => receipts.map(({ node }) => node))).toEqual([
        ['a', 'b'],
        ['a', 'b'],
        ['a', 'b'],
      ]);
      const [, from = 0, , to = 0] = seqs;
      const some = await store.deliveries(project.id, { limit: 2, from, to });
      expect(some.map(({ seq }) => seq)).toEqual([to, to - 1]);
    });

    test('does not show a receipt of another history of the log that used the same number', async () => {
      const { seqs } = await makeChanges('restored', 1);
      const other = await makeChanges('before', 0);
      const [seq = 0] = seqs;
      await store.saveReceipts([receipt(seq, other.environment.id)]);
      expect(await store.delivery(seq)).toBeUndefined();
    });

    test('keeps the first of two receipts for the same change and node', async () => {
      const { environment, seqs } = await makeChanges('twice', 1);
      const [seq = 0] = seqs;
      await store.saveReceipts([receipt(seq, environment.id)]);
      await store.saveReceipts([receipt(seq, environment.id, { seen: 3 })]);
      expect((await store.delivery(seq))?.receipts).toMatchObject([{ seen: 2 }]);
    });

    test('the table is bounded by the number of changes and by age', async () => {
      const { environment, seqs } = await makeChanges('bounded', 2);
      const [first = 0, second = 0] = seqs;
      const now = Date.now();
      await store.saveReceipts([
        receipt(first, environment.id, { at: now }),
        receipt(first, environment.id, { node: 'old', at: now - RECEIPT_RETENTION.days * DAY_MS - 1 }),
        receipt(second, environment.id, { at: now }),
      ]);
      await store.prune(now);
      expect((await store.delivery(first))?.receipts.map(({ node }) => node)).toEqual(['a']);
      // The log has grown, as far as the table can tell, until the first change is one too many.
      const grow = (by: number) => home.database.query('UPDATE feed SET seq = seq + $1', [by]);
      const [end] = await home.database.query<{ seq: number }>('SELECT seq FROM feed');
      const by = first + RECEIPT_RETENTION.changes - (end?.seq ?? 0);
      await grow(by);
      await store.prune(now);
      expect(await store.delivery(first)).toBeUndefined();
      expect(await store.delivery(second)).toBeDefined();
      await grow(-by);
    });

    test('presence is what each node reported last, and is removed with the node', async () => {
      const now = Date.now();
      const count = (environmentId: string, keyId: string, streams: number) => ({
        environmentId,
        keyId,
        streams,
      });
      const [first, second] = [count('e', 'k', 2), count('e', '', 1)];
      const b5 = { node: 'b', streams: [count('e', 'k', 5)] };
      await store.savePresence([{ node: 'a', streams: [first, second] }, b5], now);
      await store.savePresence([{ node: 'a', streams: [count('e', 'k', 3)] }], now + 1);
      const [a, b] = (await store.presence(now + PRESENCE_MS)).toSorted((one, two) =>
        one.node < two.node ? -1 : 1,
      );
      expect([a, b]).toEqual([
        { node: 'a', environmentId: 'e', keyId: 'k', streams: 3, seenAt: now + 1 },
        { node: 'b', environmentId: 'e', keyId: 'k', streams: 5, seenAt: now },
      ]);
      expect(await store.presence(now + 1 + PRESENCE_MS)).toHaveLength(1);
      await store.savePresence([{ node: 'a', streams: [count('e', '', 1)] }], now + 1);
      expect(await store.presence(now + 1 + PRESENCE_MS)).toMatchObject([
        { node: 'a', keyId: '', streams: 1 },
      ]);
      await store.removePresence('a');
      expect((await store.presence(now + PRESENCE_MS)).map(({ node }) => node)).toEqual(['b']);
      await store.prune(now + PRESENCE_MS + 1);
      expect(await store.presence(now)).toEqual([]);
      await store.savePresence([{ node: 'ahead', streams: [first] }], now + DAY_MS);
      expect(await store.presence(now)).toEqual([]);
      await store.removePresence('ahead');
      const many = Array.from({ length: 450 }, (_, index) => ({ node: `n${index}`, streams: [first] }));
      await store.savePresence(many, now);
      const closed = many.map(({ node }) => ({ node, streams: [] }));
      await store.savePresence([...closed.slice(1), b5], now);
      const left = (await store.presence(now + PRESENCE_MS)).map(({ node }) => node);
      expect(left.sort()).toEqual(['b', 'n0']);
    });
  });
}
