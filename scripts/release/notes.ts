import { withSourceLinks } from './source-links.ts';

/**
 * What changed in a version: its section of the changelog, without the heading. Links to files lead to the sources of that version.
 * `undefined` if there is no such section, or nothing in it.
 */
export function releaseNotes(changelog: string, version: string): string | undefined {
  const sections = changelog.split(/^## /m).slice(1);
  const section = sections.find((text) => /^\S+/.exec(text)?.[0] === version);
  const text = section?.slice(section.indexOf('\n')).trim();
  if (!text) return undefined;

  return `${withSourceLinks(text, { page: 'CHANGELOG.md', version, has: () => false })}\n`;
}
