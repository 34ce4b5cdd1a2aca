import { HEARTBEAT_SECONDS, REVISION_HEADER } from '@halyard/protocol';
import type { Command } from 'commander';
import { type ApiClient, apiPath } from './api-client.ts';
import { CliError, EXIT } from './cli-error.ts';
import { addConnectionOptions, type CommandOptions, connect } from './connection-options.ts';
import { readEvents } from './event-stream.ts';
import { parseForDisplay } from './json-text.ts';
import { describeChanges, type States } from './map-diff.ts';
import { wantsJson } from './output.ts';
import type { Shell } from './shell.ts';

interface WatchOptions extends CommandOptions {
  readonly project: string;
  readonly env: string;
}

/** `halyard watch` */
export function defineWatch(program: Command, shell: Shell): void {
  addConnectionOptions(
    program
      .command('watch')
      .description('Show the changes of an environment as they happen. Reconnects by itself; Ctrl+C ends it.')
      .requiredOption('--project <project>', 'the project')
      .requiredOption('--env <environment>', 'the environment')
      .addHelpText('after', EXAMPLES),
  ).action((options: WatchOptions) => new Watch(connect(shell, options), shell, options).run());
}

const EXAMPLES = `
With --json, or when piped, every frame is one line: the whole flag map.

Examples:
  halyard watch --project shop --env production
  halyard watch --project shop --env production --json | jq '."new-checkout".enabled'`;

/** A stream without a byte for so long is dead, whatever the connection says. */
const SILENCE_MS = 3 * HEARTBEAT_SECONDS * 1000;
const FIRST_DELAY_MS = 1000;
const LONGEST_DELAY_MS = 30_000;

/** Follows one environment's stream until it is refused for good. */
class Watch {
  readonly #client: ApiClient;
  readonly #shell: Shell;
  readonly #options: WatchOptions;
  /** Whether a frame has ever arrived: then the address is right, and whatever breaks may heal. */
  #hasConnected = false;
  /** The last frame shown; `undefined` before the first one. */
  #states: States | undefined;
  /** Connections that failed since the last frame. */
  #failures = 0;

  constructor(client: ApiClient, shell: Shell, options: WatchOptions) {
    this.#client = client;
    this.#shell = shell;
    this.#options = options;
  }

  /** Never settles while reconnecting may help; rejects when it cannot. */
  async run(): Promise<never> {
    for (;;) {
      const reason = await this.#follow().then(
        () => 'The stream ended.',
        (error: unknown) => this.#reasonToRetry(error),
      );
      const delayMs =
        Math.min(FIRST_DELAY_MS * 2 ** this.#failures, LONGEST_DELAY_MS) * (0.5 + Math.random() / 2);
      this.#failures++;
      this.#shell.writeError(`${reason} Trying again in ${(delayMs / 1000).toFixed(1)} s.\n`);
      await Bun.sleep(delayMs);
    }
  }

  async #follow(): Promise<void> {
    const { project, env } = this.#options;
    const silence = new AbortController();
    const watchdog = setTimeout(() => silence.abort(), SILENCE_MS);
    try {
      const path = apiPath`/projects/${project}/environments/${env}/stream`;
      const response = await this.#client.open({ path }, silence.signal);
      if (response.body === null) return;
      const revision = response.headers.get(REVISION_HEADER) ?? '?';
      let isFirst = true;
      for await (const data of readEvents(response.body, () => watchdog.refresh())) {
        this.#failures = 0;
        this.#hasConnected = true;
        if (wantsJson(this.#shell, this.#options)) this.#shell.write(`${data}\n`);
        else this.#show(parseStates(data), isFirst ? revision : undefined);
        isFirst = false;
      }
    } finally {
      clearTimeout(watchdog);
      silence.abort();
    }
  }

  /** `revision` is known of the first frame of a connection only. */
  #show(states: States, revision: string | undefined): void {
    const changes = this.#states === undefined ? [] : describeChanges(this.#states, states);
    if (revision !== undefined) {
      const { project, env } = this.#options;
      const what = this.#states === undefined ? 'Watching' : 'Connected again to';
      this.#say(`${what} ${env} of ${project}: ${states.size} flag(s), revision ${revision}.`);
    }
    for (const line of changes) this.#say(line);
    this.#states = states;
  }

  #say(line: string): void {
    this.#shell.write(`${new Date(this.#shell.now()).toTimeString().slice(0, 8)}  ${line}\n`);
  }

  /** Why the stream is not there, or a rejection when no retry can mend it. */
  #reasonToRetry(error: unknown): string {
    if (!(error instanceof CliError)) {
      return error instanceof Error && error.name === 'AbortError'
        ? `The stream was silent for ${SILENCE_MS / 1000} s.`
        : 'The stream broke.';
    }
    // An address that never answered is more likely wrong than away.
    const isLasting = error.exitCode !== EXIT.failed || (!this.#hasConnected && error.code === undefined);
    if (isLasting) throw error;
    return error.message;
  }
}

function parseStates(data: string): States {
  const map = parseForDisplay(data);
  if (typeof map === 'object' && map !== null) return new Map(Object.entries(map));
  throw new CliError('The server sent a frame that is no flag map: is this address a Halyard server?');
}
