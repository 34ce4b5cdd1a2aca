import { statSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { ConfigError, type FlagValues, resolveSetting } from '../config/config.ts';
import { SETTINGS } from '../config/settings.ts';
import { StorageError, StoreOutage, UnwritableDatabaseError } from '../domain/errors.ts';
import type { Interrupted } from '../nouns/restore.ts';
import type { BackupHeader } from '../storage/backup-file.ts';
import type { Contents, DatabasePlace } from '../storage/database-copy.ts';
import { COMMIT, VERSION } from '../version.ts';
import { CliError, usageError } from './cli-error.ts';
import { localCommand } from './command.ts';
import { option, toggle, type ValuesOf } from './options.ts';
import { type OutputOptions, shortTime, wantsJson } from './output.ts';
import { settingOptions } from './setting-options.ts';
import type { Shell } from './shell.ts';

const PLACE = {
  ...settingOptions({ data: SETTINGS.data, databaseUrl: SETTINGS.databaseUrl }),
  json: toggle('Print JSON instead of a sentence'),
};

/** `halyard backup` */
export const backupCommand = localCommand({
  usage: 'backup <file>',
  about:
    'Back up the database of an installation to one file, while its nodes run. The copy is consistent and verified.',
  argumentHelp: { file: 'New file for the backup, or a folder, where the backup gets a name with the time' },
  options: { keep: option('<n>', 'Keep only the newest <n> backups in the folder'), ...PLACE },
  help: 'The file holds digests of keys and tokens, never the secrets. The admin-token file of the data folder is not in it.',
  examples: [
    'halyard backup /backup/halyard.backup --data /var/lib/halyard',
    'halyard backup /backup --keep 14 --database-url-file /run/secrets/database-url     keep the newest 14 in a folder',
  ],
  run: backUpTo,
});

/** `halyard restore` */
export const restoreCommand = localCommand({
  usage: 'restore <file>',
  about: 'Restore a backup into the database of an installation, of either engine, while no node runs.',
  argumentHelp: { file: 'The backup' },
  options: {
    replace: toggle('Replace a database that is not empty'),
    runOverdue: toggle('Let schedules and rollout plans carry on, also those whose time has passed'),
    ...PLACE,
  },
  help:
    'Stop all nodes first. The restore begins a new epoch and raises the revisions of all environments, so that connected\n' +
    'clients accept the restored flags as newer. A backup of either engine can be restored into either engine.',
  examples: [
    'halyard restore /backup/halyard.backup --data /var/lib/halyard --replace',
    'halyard restore /backup/halyard.backup --database-url postgres://halyard@db/halyard     move to PostgreSQL',
  ],
  closing:
    'Scheduled changes whose time has passed since the backup fail, and running rollout plans are paused, because they may have\n' +
    'been canceled or carried out since. With --run-overdue the nodes carry them out once they start.',
  run: async ({ file: path, replace = false, runOverdue = false, ...options }, shell) => {
    const place = placeOf(shell, options);
    const file = resolve(path);

    const { restore } = await import('../nouns/restore.ts');
    const { header, contents, interrupted } = await explain(
      restore(file, place, { replace, runOverdue, now: shell.now() }),
    );

    const all = { file, fileBytes: statSync(file).size, ...facts(header, contents), ...interrupted };
    report(
      shell,
      options,
      all,
      `Restored ${countsOf(contents)} from the backup of ${shortTime(header.createdAt)}.\n` +
        interruptionsOf(interrupted) +
        'Start the nodes now. Keys and tokens that were revoked after the backup work again: revoke them again.\n' +
        'All operators have to sign in to the dashboard again.\n',
    );
  },
});

type BackupOptions = ValuesOf<typeof PLACE> & { readonly file: string; readonly keep?: string };

async function backUpTo({ file: path, ...options }: BackupOptions, shell: Shell): Promise<void> {
  const keep = keepCount(options.keep);
  const existing = statSync(path, { throwIfNoEntry: false });
  const isFolder = existing?.isDirectory() === true;
  if (existing === undefined && (keep !== undefined || path.endsWith('/')))
    throw usageError(`The folder ${path} does not exist: create it, then try again.`);
  if (keep !== undefined && !isFolder)
    throw usageError(`${path} is a file, and --keep needs a folder. Name a folder instead.`);

  const file = resolve(isFolder ? join(path, nameAt(shell.now())) : path);
  const place = placeOf(shell, options);
  const { backUp } = await import('../storage/backup.ts');
  const halyard = COMMIT === undefined ? VERSION : `${VERSION} (${COMMIT})`;
  const { header, contents } = await explain(backUp(place, file, { halyard }));
  const removed = keep === undefined ? [] : await removeOlder(path, keep);

  const fileBytes = statSync(file).size;
  const done = `Backed up ${countsOf(contents)} to ${file} (${sizeOf(fileBytes)}), verified.\n`;
  const also = removed.length === 0 ? '' : `Removed ${count(removed.length, 'older backup')}.\n`;
  report(shell, options, { file, fileBytes, removed, ...facts(header, contents) }, done + also);
}

/** The database that the options or the variables of the environment name, as for `halyard serve`. */
function placeOf({ env }: Shell, flags: FlagValues): DatabasePlace {
  const [data, databaseUrl] = (['data', 'databaseUrl'] as const).map((name) => {
    const resolved = resolveSetting(name, SETTINGS[name], { flags, env });
    if (!resolved.ok) throw new ConfigError([resolved.problem]);
    return resolved.value.value;
  });
  // Both readers return text, and the first has a default.
  return { data: data as string, databaseUrl: databaseUrl as string | undefined };
}

function keepCount(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^[1-9]\d{0,3}$|^10000$/.test(text))
    throw usageError('--keep must be a whole number from 1 to 10000.');
  return Number(text);
}

const NAME = /^halyard-\d{8}T\d{6}Z\.backup$/;

function nameAt(now: number): string {
  return `halyard-${new Date(now).toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z.backup`;
}

async function removeOlder(folder: string, keep: number): Promise<string[]> {
  const names = (await readdir(folder)).filter((name) => NAME.test(name)).sort();
  const older = names.slice(0, Math.max(0, names.length - keep));
  for (const name of older) await rm(join(folder, name));
  return older;
}

function facts({ createdAt, halyard, engine, schema, seq }: BackupHeader, contents: Contents) {
  return { createdAt, halyard, engine, schema, seq, ...contents };
}

function report(shell: Shell, options: OutputOptions, facts: object, text: string): void {
  shell.write(wantsJson(shell, options) ? `${JSON.stringify(facts)}\n` : text);
}

/** What the restore has stopped, and what is still to come. */
function interruptionsOf({
  failedSchedules,
  pendingSchedules,
  pausedPlans,
  endedProposals,
  endedLinks,
}: Interrupted): string {
  const sentences = [
    [failedSchedules, `Failed ${count(failedSchedules, 'schedule')} whose time had passed`],
    [pausedPlans, `Paused ${count(pausedPlans, 'running rollout plan')}`],
    [
      pendingSchedules,
      `Kept ${count(pendingSchedules, 'pending schedule')}: cancel again what was canceled after the backup`,
    ],
    [
      endedProposals,
      `Withdrew ${count(endedProposals, 'open proposal')}: propose again what is still wanted`,
    ],
    [endedLinks, `Ended ${count(endedLinks, 'invitation or password link')}: create new ones`],
  ] as const;
  return sentences.flatMap(([number, sentence]) => (number === 0 ? [] : [`${sentence}.\n`])).join('');
}

function count(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? '' : 's'}`;
}

function countsOf({ projects, environments, flags }: Contents): string {
  return `${count(projects, 'project')}, ${count(environments, 'environment')} and ${count(flags, 'flag')}`;
}

function sizeOf(bytes: number): string {
  const mebibytes = bytes / 1024 ** 2;
  return mebibytes < 1 ? `${Math.ceil(bytes / 1024)} KiB` : `${mebibytes.toFixed(1)} MiB`;
}

async function explain<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof UnwritableDatabaseError)
      throw new CliError(`The database cannot be written: ${error.message}.`, { cause: error });
    if (error instanceof StorageError || error instanceof StoreOutage)
      throw new CliError(error.message, { cause: error });
    throw error;
  }
}
