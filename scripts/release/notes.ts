/**
 * What changed in a version: its section of the changelog, without the heading. Links to files lead to the sources of that version.
 * `undefined` if there is no such section, or nothing in it.
 */
export function releaseNotes(changelog: string, version: string): string | undefined {
  const sections = changelog.split(/^## /m).slice(1);
  const section = sections.find((text) => /^\S+/.exec(text)?.[0] === version);
  const text = section?.slice(section.indexOf('\n')).trim();
  if (!text) return undefined;

  const sources = `https://github.com/halyard-flags/halyard/blob/v${version}/`;
  return `${text.replaceAll(/\]\((?![a-z]+:|#)/g, `](${sources}`)}\n`;
}
