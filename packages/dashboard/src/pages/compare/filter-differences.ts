import type { StateDifference } from '../../api/compare.ts';
import { differingFields } from '../../components/state-fields.ts';

/** The differences whose key has the text in it, in the member that is asked for. Empty texts let all through. */
export function filterDifferences(
  differences: readonly StateDifference[],
  { q, field }: { readonly q: string; readonly field: string },
): readonly StateDifference[] {
  const text = q.trim().toLowerCase();
  return differences.filter(({ key, from, to }) => {
    if (text !== '' && !key.toLowerCase().includes(text)) return false;
    return field === '' || differingFields(from, to).some((each) => each === field);
  });
}
