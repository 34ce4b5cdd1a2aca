/** A part of a page that a search finds: what stands below a heading. */
export interface Section {
  /** The file of the page, with the anchor of the heading. */
  readonly id: string;
  readonly page: string;
  readonly title: string;
  readonly text: string;
}

/** The parts of a page by its headings, in their order. */
export function readSections(html: string, file: string): Section[] {
  const parts: { anchor: string; title: string; text: string }[] = [];
  let inHeading = false;

  new HTMLRewriter()
    .on('main h1, main h2, main h3', {
      element(element) {
        parts.push({ anchor: element.getAttribute('id') ?? '', title: '', text: '' });
        inHeading = true;
        element.onEndTag(() => {
          inHeading = false;
        });
      },
    })
    .on('main', {
      text({ text }) {
        const part = parts.at(-1);
        if (part === undefined) return;
        if (inHeading) part.title += text;
        else part.text += text;
      },
    })
    .on('main p, main li, main td, main th, main pre', {
      element(element) {
        // Words of neighbors are not one word.
        element.onEndTag(() => {
          const part = parts.at(-1);
          if (part !== undefined) part.text += ' ';
        });
      },
    })
    .transform(html);

  const page = plain(parts[0]?.title ?? '');
  return parts.map(({ anchor, title, text }, i) => ({
    id: i === 0 ? file : `${file}#${anchor}`,
    page,
    title: plain(title),
    text: plain(text),
  }));
}

const CHARACTERS: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  '#x27': "'",
  '#39': "'",
};

function plain(text: string): string {
  return text
    .replaceAll(/&(\w+|#\w+);/g, (entity, name: string) => CHARACTERS[name] ?? entity)
    .replaceAll(/\s+/g, ' ')
    .trim();
}
