import { hostname } from 'node:os';
import type { Logger } from 'pino';
import { createDemo, type FirstStart, importDocument, prepareFirstOperator } from '../app/first-start.ts';
import type { Config } from '../config/config.ts';
import { StoreOutage } from '../domain/errors.ts';
import { offerSetup } from '../nouns/people/invitations.ts';
import type { PeopleContext } from '../nouns/people/people.ts';
import type { Migrated, Migrating } from '../storage/schema.ts';

/** Parts of a {@link Preparation}. */
export interface FirstStartParts {
  readonly config: Config;
  readonly people: PeopleContext;
  readonly log: Logger;
  /** The port of the evaluation interface; names this node among those that offer set-up links. */
  readonly port: number | undefined;
  /** Whether the node can take changes now. */
  readonly isReady: () => boolean;
}

/** The result of a first start. */
export interface PreparedStart {
  /** Whether the first operator is still missing. */
  needsOperator: boolean;
  /** The one-time link for the first administrator, before there is one. Never created for a log. */
  setupLink?: string;
  /** The demo project of an empty database. Its key is shown once. */
  firstStart?: FirstStart;
}

/** The preparation of a first start, and its result so far. */
export class Preparation {
  readonly #parts: FirstStartParts;
  #result: PreparedStart = { needsOperator: false };

  constructor(parts: FirstStartParts) {
    this.#parts = parts;
  }

  get result(): PreparedStart {
    return this.#result;
  }

  /** Prepares now. */
  async run(): Promise<void> {
    this.#result = await prepareFirstStart(this.#parts);
  }

  /** Prepares once the database has come within reach: a short outage at the first start must not skip it. */
  async runLate(): Promise<void> {
    await this.run().catch((error: unknown) => warnUnprepared(this.#parts.log, error));
  }
}

/**
 * Creates what an empty database needs: the first administrator or the link to become one, and the document to
 * import or the demo. A database
 * that is lost in between, or a standby, is no reason not to serve: that is logged, and the next start tries again.
 */
async function prepareFirstStart(parts: FirstStartParts): Promise<PreparedStart> {
  const { config, people, log, isReady } = parts;
  // Output for programs is a log, and secrets have no place in it: there, the first steps are commands.
  const canShowSecrets = config.logFormat === 'pretty';
  const prepared: PreparedStart = { needsOperator: false };

  try {
    prepared.needsOperator = await prepareFirstOperator(people, config);
    if (prepared.needsOperator && canShowSecrets)
      prepared.setupLink = (await offerSetup(people, makerName(parts))).link;

    if (config.import !== undefined) {
      const { import: file } = config;
      const imported = await importDocument(people, file);
      if (imported !== undefined) log.info({ file, ...imported }, 'imported the document of the first start');
      else
        log.info({ file }, 'nothing was imported: this is not the first start, there are projects already');
    }

    const isBare = config.bare || config.import !== undefined;
    const firstStart = isBare ? undefined : await createDemo(people, { withKey: canShowSecrets });
    if (firstStart !== undefined) prepared.firstStart = firstStart;
  } catch (error) {
    if (isReady() && !(error instanceof StoreOutage)) throw error;
    warnUnprepared(log, error);
  }
  return prepared;
}

function warnUnprepared(log: Logger, err: unknown): void {
  log.warn({ err }, 'the first start could not be completed; the next start tries again');
}

/** The set-up links of earlier starts under this name end with the next one. */
function makerName({ config, port }: FirstStartParts): string {
  // Processes that share a port differ by their process id, which changes with every start.
  return `node:${hostname()}:${port}${config.reusePort ? `:${process.pid}` : ''}`;
}

/** Migrations read or copy each entry: about so many a second on SQLite, with a disk and a processor that others use, too. */
const MIGRATED_PER_SECOND = 50_000;

/** Logs how long a migration is likely to take, because changes wait for it. */
export function logMigrating(log: Logger, { from, to, entries }: Migrating): void {
  const seconds = Math.ceil(entries / MIGRATED_PER_SECOND);
  log.info(
    { from, to, entries, seconds },
    'migrating the database schema: changes wait for about so many seconds',
  );
}

/** Logs that the database has just been created, or brought to the schema of this version. */
export function logMigration(log: Logger, { from, to }: Migrated): void {
  if (from === 0) log.info({ schema: to }, 'database created');
  else log.info({ from, to }, 'database schema migrated');
}
