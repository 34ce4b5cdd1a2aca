/**
 * Reads server-sent events: gives the `data` of each event, its lines joined by line feeds. Comments and other fields
 * are passed over. `onActivity` is called whenever bytes arrive, so that a silent stream can be noticed.
 */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
  onActivity: () => void,
): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder();
  let rest = '';
  let data: string[] = [];
  for await (const bytes of body) {
    onActivity();
    const { lines, incomplete } = splitLines(rest + decoder.decode(bytes, { stream: true }));
    rest = incomplete;
    for (const line of lines) {
      if (line === '' && data.length > 0) {
        yield data.join('\n');
        data = [];
      } else if (line.startsWith('data:')) {
        data.push(line.slice('data:'.length).replace(/^ /, ''));
      }
    }
  }
}

function splitLines(text: string): { readonly lines: readonly string[]; readonly incomplete: string } {
  // A carriage return at the very end may be the first half of a line's end.
  const lines = text.split(/\r\n|\n|\r(?!$)/);
  return { lines: lines.slice(0, -1), incomplete: lines.at(-1) ?? '' };
}
