/**
 * The header that puts a note into the audit log; none without a note. Headers carry bytes, so the note goes as its
 * UTF-8 bytes, as from any other HTTP client; line feeds and other control characters cannot be in a header and become
 * spaces.
 */
export function noteHeader(note: string | undefined): Readonly<Record<string, string>> {
  if (note === undefined) return {};
  const line = note.replace(/[\s\p{Cc}]+/gu, ' ').trim();
  return { 'x-change-note': Buffer.from(line, 'utf8').toString('latin1') };
}
