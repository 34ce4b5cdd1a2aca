import { type AuditRow, redact } from '../../domain/redaction.ts';
import type { Queryable } from '../../storage/database.ts';
import type { Store } from '../../storage/store.ts';
import { type Block, commitmentTo, type EntryKey, endOf, entryHashesOf, parts } from './block.ts';
import {
  readEntries,
  readKeysBetween,
  readLastBlock,
  readRemovable,
  storeCommitments,
  storeRedacted,
  unfoldStretches,
} from './block-table.ts';

/** How long others have their turn between two blocks, in milliseconds: at first, there can be years of them. */
const PAUSE_MS = 20;

/**
 * Removes personal data from the entries of all blocks that were written before this time; returns the number of blocks. The chain still
 * proves what is left. The salt of a block goes with it, so that nothing removed can be guessed from the hashes. Any number of nodes may
 * do this at once. (Spec: S24.4)
 */
export async function removePersonalData(store: Store, before: number): Promise<number> {
  for (let count = 0; ; count++) {
    const [block] = await readRemovable(store, before, 1);
    if (block === undefined) return count;
    await removeFrom(store, block);
    await Bun.sleep(PAUSE_MS);
  }
}

/** An entry that was changed or inserted stays as wrong as it was: its hash does not fit what was there. */
async function removeFrom(store: Store, block: Block): Promise<void> {
  const hashes = entryHashesOf(block) ?? [];

  await store.unlogged(async (tx) => {
    // Not from its first hash: a damaged block does not say which entries it covers.
    const before = await readLastBlock(tx, block.number);
    const keys = await readKeysBetween(tx, endOf(before), endOf(block));

    const { salt = '' } = block;
    const commitments = hashes.map(() => '');
    await forEachEntry(tx, keys, (entry) => {
      const index = hashes.findIndex(([seq, position]) => entry.seq === seq && entry.position === position);
      // Of two entries in one place, the first.
      if (commitments[index] === '') commitments[index] = commitmentTo(entry, salt);
    });
    if (!(await storeCommitments(tx, block, JSON.stringify(commitments)))) return;

    const [first, last] = [keys[0], keys.at(-1)];
    if (first !== undefined && last !== undefined) await unfoldStretches(tx, first, last);
    await forEachEntry(tx, keys, async (entry) => {
      const redacted = redact(entry);
      if (JSON.stringify(redacted) !== JSON.stringify(entry)) await storeRedacted(tx, redacted);
    });
  });
}

/** Reads the entries again for each use: those of a block from before it was limited in bytes can be too large to be kept together. */
async function forEachEntry(
  db: Queryable,
  keys: readonly EntryKey[],
  use: (entry: AuditRow) => void | Promise<void>,
): Promise<void> {
  for (const part of parts(keys)) {
    for (const entry of await readEntries(db, part)) await use(entry);
  }
}
