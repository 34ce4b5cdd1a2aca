import MiniSearch from 'minisearch';
import type { Section } from './sections.ts';

/** Shows at most so many sections. */
const SHOWN = 12;

/** How much of a section is shown around the first word that was found. */
const BEFORE = 40;
const AFTER = 120;

const input = document.querySelector<HTMLInputElement>('#search');
const list = document.querySelector<HTMLOListElement>('#found');
if (input !== null && list !== null) start(input, list);

function start(input: HTMLInputElement, list: HTMLOListElement): void {
  const root = input.dataset.root ?? '';
  let index: Promise<MiniSearch<Section>> | undefined;
  const show = async () => {
    index ??= loadIndex(root);
    const found = (await index).search(input.value).slice(0, SHOWN);
    // What MiniSearch stores are the sections' own members.
    const sections = found.map((result) => ({ section: result as unknown as Section, words: result.terms }));
    list.replaceChildren(...sections.map(({ section, words }) => item(root, section, words)));
    if (sections.length === 0)
      list.append(Object.assign(document.createElement('li'), { textContent: 'Nothing found' }));
    list.hidden = input.value.trim() === '';
  };

  input.addEventListener('input', () => void show());
  document.addEventListener('keydown', (event) => {
    if (event.key === '/' && !(event.target instanceof HTMLInputElement)) {
      event.preventDefault();
      input.focus();
    }
    if (event.key === 'Escape') list.hidden = true;
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') move(event, input, list);
    if (event.key === 'Enter' && event.target === input) list.querySelector('a')?.click();
  });
  document.addEventListener('click', ({ target }) => {
    if (target instanceof Node && !list.contains(target) && target !== input) list.hidden = true;
  });
  list.addEventListener('click', () => {
    list.hidden = true;
  });
}

/** The texts of the site are a script, because a page that was opened from a folder may not fetch. */
async function loadIndex(root: string): Promise<MiniSearch<Section>> {
  const script = document.createElement('script');
  script.src = `${root}search-data.js`;
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  script.addEventListener('load', resolve);
  script.addEventListener('error', reject);
  document.head.append(script);
  await promise;

  const index = new MiniSearch<Section>({
    fields: ['title', 'page', 'text'],
    storeFields: ['id', 'title', 'page', 'text'],
    searchOptions: {
      prefix: true,
      fuzzy: 0.15,
      combineWith: 'AND',
      boost: { title: 4, page: 2 },
      boostDocument: weight,
    },
  });
  // The script has set it.
  const { halyardSections } = globalThis as unknown as { halyardSections: readonly Section[] };
  index.addAll(halyardSections);
  return index;
}

/** Guides answer more questions than lists of operations and of error codes, which have most of the headings. */
function weight(id: string): number {
  return /^(?:api|client-api|errors\/\w+)\.html/.test(id) ? 0.4 : 1;
}

function item(root: string, section: Section, words: readonly string[]): HTMLLIElement {
  const link = document.createElement('a');
  link.href = root + section.id;
  const title = Object.assign(document.createElement('strong'), { textContent: section.title });
  const page = section.page === section.title ? [] : [` · ${section.page}`];
  const excerpt = document.createElement('span');
  excerpt.append(...marked(section.text, words));
  link.append(title, ...page, excerpt);
  const entry = document.createElement('li');
  entry.append(link);
  return entry;
}

/** The neighborhood of the first word that was found, with the words marked. */
function marked(text: string, words: readonly string[]): (string | HTMLElement)[] {
  const escaped = words.map((word) => word.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&'));
  const pattern = new RegExp(`(${escaped.join('|')})`, 'iu');
  const first = Math.max(0, text.search(pattern));
  const start = first <= BEFORE ? 0 : text.indexOf(' ', first - BEFORE) + 1;
  const excerpt = (start > 0 ? '… ' : '') + text.slice(start, first + AFTER);
  return excerpt
    .split(new RegExp(pattern, 'giu'))
    .map((part, i) =>
      i % 2 === 0 ? part : Object.assign(document.createElement('mark'), { textContent: part }),
    );
}

/** The arrow keys go from the field through what was found. */
function move(event: KeyboardEvent, input: HTMLInputElement, list: HTMLOListElement): void {
  const stops: (Element | null)[] = [input, ...list.querySelectorAll('a')];
  const at = stops.indexOf(document.activeElement);
  if (at === -1 || list.hidden) return;
  event.preventDefault();
  const next = stops.at((at + (event.key === 'ArrowDown' ? 1 : -1)) % stops.length);
  if (next instanceof HTMLElement) next.focus();
}
