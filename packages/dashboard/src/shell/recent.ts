import { readStored, writeStored } from '../browser/stored.ts';

/** Where this browser keeps what was used last. */
const NAME = 'recent';

/** How much is remembered, of all projects together. */
const MOST = 60;

/** A screen, a flag or a switch that was used, by the ID of its command. */
type Recent = readonly [project: string, command: string];

/** What can be used again: flags, their switches, screens and projects. */
const LASTING = /^(flag\.(go|toggle)|go)\./;

/** Remembers that a command was used in a project, or that what it leads to was opened; `''` outside of projects. */
export function remember(project: string, command: string): void {
  if (!LASTING.test(command)) return;
  const others = readRecent().filter(([place, id]) => place !== project || id !== command);
  writeStored(NAME, JSON.stringify([[project, command], ...others].slice(0, MOST)));
}

/** The IDs of the commands that were used in a project, the last one first. */
export function recentIn(project: string): readonly string[] {
  return readRecent().flatMap(([place, id]) => (place === project ? [id] : []));
}

/** Nothing if this browser has another shape, such as that of an older version. */
function readRecent(): readonly Recent[] {
  try {
    const list: unknown = JSON.parse(readStored(NAME) ?? '[]');
    return Array.isArray(list) ? list.filter(isRecent) : [];
  } catch {
    return [];
  }
}

function isRecent(item: unknown): item is Recent {
  return Array.isArray(item) && item.length === 2 && item.every((part) => typeof part === 'string');
}
