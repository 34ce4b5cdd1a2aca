import { type ChangedPlace, isAboutPeople, NAMING_ENTRIES } from '../../domain/audit.ts';
import type { Queryable } from '../../storage/database.ts';
import { beforeLastRow } from '../../storage/places.ts';
import { chunks, type NullableColumns, withoutNulls } from '../../storage/rows.ts';

/** Changes that one statement names: SQLite joins at most 500 selections. */
const AT_ONCE = 100;

/** Which number of a change is known: of its row in one environment, or of the whole operation. */
type NumberOf = 'row' | 'operation';

/**
 * What these changes were about, by number: at most {@link NAMING_ENTRIES} entries of each, so that a change of 60,000 flags
 * costs no more than another. Entries about people, and changes from before operations were numbered, are left out.
 */
export async function readChangedPlaces(
  db: Queryable,
  seqs: Iterable<number>,
  numberOf: NumberOf,
): Promise<ReadonlyMap<number, readonly ChangedPlace[]>> {
  const column = numberOf === 'row' ? 'seq' : 'operation_seq';
  const isOf = (at: string) =>
    numberOf === 'row' ? `seq = ${at}` : `(${beforeLastRow(at)}) OR (seq = ${at} AND operation_seq = ${at})`;
  const found: (NullableColumns<ChangedPlace> & { readonly number: number; readonly position: number })[] =
    [];

  for (const some of chunks(new Set(seqs), AT_ONCE)) {
    const first = some.map(
      (
        _,
        index,
      ) => `SELECT * FROM (SELECT ${column} AS number, position, action, target, environment_id FROM audit_log
        WHERE ${isOf(`$${index + 1}`)} LIMIT ${NAMING_ENTRIES}) AS change_${index}`,
    );
    found.push(
      ...(await db.query<(typeof found)[number]>(
        `SELECT number, position, action, target,
            (SELECT name FROM environments WHERE environments.id = environment_id) AS environment
          FROM (${first.join(' UNION ALL ')}) AS entries ORDER BY number, position`,
        some,
      )),
    );
  }

  const places = new Map<number, ChangedPlace[]>();
  for (const { number, position: _, ...place } of found) {
    if (isAboutPeople(place.action)) continue;
    const known = places.get(number) ?? [];
    known.push(withoutNulls<ChangedPlace>(place));
    places.set(number, known);
  }
  return places;
}
