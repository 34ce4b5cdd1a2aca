import type { SearchHit } from '../../domain/store.ts';
import type { ManagementContext } from '../context.ts';

/** Projects, environments, flags and keys that the text is found in, the best first; nothing for a blank text. */
export async function search(
  context: ManagementContext,
  { text, limit }: { readonly text: string; readonly limit: number },
): Promise<readonly SearchHit[]> {
  const words = text.trim();
  return words === '' ? [] : context.store.read((reader) => reader.search(words, limit));
}
