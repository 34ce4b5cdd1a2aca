import { readdirSync, readFileSync, statSync } from 'node:fs';

const FOLDER = '/proc/self/fd';

/** How many files and sockets this process has open; 0 where the system does not say (only Linux does). */
export function countOpenFiles(): number {
  try {
    // Since Linux 6.2 the size of the folder is their number. Reading the folder takes milliseconds for 20,000.
    return statSync(FOLDER).size || readdirSync(FOLDER).length;
  } catch {
    return 0;
  }
}

/** How many files and sockets this process may have open; infinite where there is no limit or it is not known. */
export function openFilesLimit(): number {
  try {
    const [, soft] = /^Max open files\s+(\S+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return Number(soft) || Number.POSITIVE_INFINITY;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
