import { KEEP_ALIVE_SECONDS, REVISION_HEADER } from '@halyard/protocol';
import { type ApiClient, apiPath, readEvents } from './api-client.ts';
import { CliError, EXIT } from './cli-error.ts';
import { command, connect } from './command.ts';
import { parseForDisplay } from './fields.ts';
import { describeChanges, type States } from './flag-state.ts';
import { type CONNECTION, required, type ValuesOf } from './options.ts';
import { wantsJson } from './output.ts';
import { pauseBeforeRetry } from './retry.ts';
import type { Shell } from './shell.ts';

const OPTIONS = {
  project: required('<project>', 'Project to watch'),
  env: required('<environment>', 'Environment to watch'),
};

type WatchOptions = ValuesOf<typeof OPTIONS & typeof CONNECTION>;

/** `halyard watch` */
export const watchCommand = command({
  usage: 'watch',
  about: 'Watch the changes of an environment as they happen. Reconnects until you press Ctrl+C.',
  options: OPTIONS,
  help: 'With --json, or when piped, prints the whole flag map as one line per change.',
  examples: [
    'halyard watch --project shop --env production',
    `halyard watch --project shop --env production --json | jq '."new-checkout".enabled'`,
  ],
  run: (options, shell) => new Watch(connect(shell, options), shell, options).run(),
});

/** A stream without a byte for this long is dead, even if the connection is open. */
const SILENCE_MS = 3 * KEEP_ALIVE_SECONDS * 1000;

/** Follows the stream of one environment until an error that a retry cannot fix. */
class Watch {
  readonly #client: ApiClient;
  readonly #shell: Shell;
  readonly #options: WatchOptions;
  /** Whether a frame has ever arrived: then the address is right, and a failure is temporary. */
  #hasConnected = false;
  /** The last frame shown; `undefined` before the first one. */
  #states: States | undefined;
  /** Failed connections since the last frame. */
  #failures = 0;

  constructor(client: ApiClient, shell: Shell, options: WatchOptions) {
    this.#client = client;
    this.#shell = shell;
    this.#options = options;
  }

  /** Rejects once a retry cannot help. */
  async run(): Promise<never> {
    for (;;) {
      const reason = await this.#follow().then(
        () => 'The stream ended.',
        (error: unknown) => this.#reasonToRetry(error),
      );
      await pauseBeforeRetry(reason, this.#failures++, this.#shell);
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

  /** `revision` is known for the first frame of a connection only. */
  #show(states: States, revision: string | undefined): void {
    const changes = this.#states === undefined ? [] : describeChanges(this.#states, states);
    if (revision !== undefined) {
      const { project, env } = this.#options;
      const verb = this.#states === undefined ? 'Watching' : 'Reconnected to';
      const count = states.size === 1 ? '1 flag' : `${states.size} flags`;
      this.#say(`${verb} ${env} of ${project}: ${count}, revision ${revision}.`);
    }
    for (const line of changes) this.#say(line);
    this.#states = states;
  }

  #say(line: string): void {
    this.#shell.write(`${new Date(this.#shell.now()).toTimeString().slice(0, 8)}  ${line}\n`);
  }

  /** The reason to retry. Throws errors that a retry cannot fix. */
  #reasonToRetry(error: unknown): string {
    if (!(error instanceof CliError)) {
      return error instanceof Error && error.name === 'AbortError'
        ? `No data for ${SILENCE_MS / 1000} s.`
        : 'The connection was lost.';
    }
    // An address that has never answered is probably wrong.
    const isLasting = error.exitCode !== EXIT.failed || (!this.#hasConnected && error.code === undefined);
    if (isLasting) throw error;
    return error.message;
  }
}

function parseStates(data: string): States {
  const map = parseForDisplay(data);
  if (typeof map === 'object' && map !== null) return new Map(Object.entries(map));
  throw new CliError('Cannot read the stream: a frame is not a flag map. Is this address a Halyard server?');
}
