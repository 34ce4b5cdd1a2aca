import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What keeps Firefox from asking for anything beyond this machine. */
const PREFERENCES = {
  'app.normandy.enabled': false,
  'app.update.auto': false,
  'browser.safebrowsing.malware.enabled': false,
  'browser.safebrowsing.phishing.enabled': false,
  'browser.startup.homepage': 'about:blank',
  'datareporting.policy.dataSubmissionEnabled': false,
  'extensions.update.enabled': false,
  'network.captive-portal-service.enabled': false,
  'network.connectivity-service.enabled': false,
  'services.settings.server': 'data:,#remote-settings-dummy/v1',
  'toolkit.telemetry.server': '',
} as const;

/** How long something may take, in milliseconds. */
const PATIENCE_MS = 30_000;

/** The error that a page reports for a request that it was still waiting for when the browser left it. */
const LEFT = /^AbortError: The operation was aborted/;

/** Keys that have no character, as WebDriver names them. */
export const KEYS = { control: '\uE009', enter: '\uE007', escape: '\uE00C', down: '\uE015' } as const;

/** One page of a Firefox without a window, driven over WebDriver BiDi. Disposing of it ends the browser. */
export class Firefox implements AsyncDisposable {
  /** The errors of the console so far. */
  readonly complaints: string[] = [];
  readonly #process: Bun.Subprocess;
  readonly #profile: string;
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, PromiseWithResolvers<Answer>>();
  #context = '';
  #lastId = 0;

  private constructor(parts: { process: Bun.Subprocess; profile: string; socket: WebSocket }) {
    this.#process = parts.process;
    this.#profile = parts.profile;
    this.#socket = parts.socket;
    this.#socket.addEventListener('message', ({ data }) => this.#receive(JSON.parse(String(data))));
  }

  /** Starts a Firefox with a profile of its own. */
  static async start(program: string): Promise<Firefox> {
    const profile = await mkdtemp(join(tmpdir(), 'halyard-firefox-'));
    const lines = Object.entries(PREFERENCES).map(
      ([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});`,
    );
    await writeFile(join(profile, 'user.js'), lines.join('\n'));

    const options = ['--headless', '--no-remote', '--profile', profile, '--remote-debugging-port', '0'];
    const process = Bun.spawn([program, ...options, 'about:blank'], { stdout: 'ignore', stderr: 'pipe' });
    const socket = new WebSocket(`${await addressIn(process.stderr)}/session`);
    await new Promise((resolve, reject) => {
      socket.addEventListener('open', resolve);
      socket.addEventListener('error', reject);
    });

    const firefox = new Firefox({ process, profile, socket });
    await firefox.#send('session.new', { capabilities: {} });
    const { contexts } = await firefox.#send('browsingContext.getTree', {});
    firefox.#context = contexts?.[0]?.context ?? '';
    await firefox.#send('session.subscribe', { events: ['log.entryAdded'] });
    return firefox;
  }

  /** Opens an address in a window of that size, in pixels. */
  async open(url: string, { width = 1280, height = 800 } = {}): Promise<void> {
    const viewport = { width, height };
    await this.#send('browsingContext.setViewport', { context: this.#context, viewport });
    await this.#send('browsingContext.navigate', { context: this.#context, url, wait: 'complete' });
  }

  /** The value of an expression in the page. */
  async evaluate(expression: string): Promise<unknown> {
    const { result, exceptionDetails } = await this.#send('script.evaluate', {
      expression,
      target: { context: this.#context },
      awaitPromise: true,
    });
    if (exceptionDetails !== undefined) throw new Error(`${expression}: ${exceptionDetails.text}`);
    return result?.value;
  }

  /** Waits until an expression holds in the page. */
  async until(what: string, expression: string): Promise<void> {
    const end = performance.now() + PATIENCE_MS;
    while ((await this.evaluate(`Boolean(${expression})`)) !== true) {
      if (performance.now() > end) throw new Error(`Firefox never showed ${what}`);
      await Bun.sleep(50);
    }
  }

  /** Presses keys one after the other while the keys in `held` are down. */
  async press(keys: Iterable<string>, held: readonly string[] = []): Promise<void> {
    const down = (value: string) => ({ type: 'keyDown', value });
    const up = (value: string) => ({ type: 'keyUp', value });
    const actions = [...held.map(down), ...[...keys].flatMap((key) => [down(key), up(key)]), ...held.map(up)];
    const source = { type: 'key', id: 'keyboard', actions };
    await this.#send('input.performActions', { context: this.#context, actions: [source] });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#socket.close();
    this.#process.kill();
    await this.#process.exited;
    await rm(this.#profile, { recursive: true, force: true, maxRetries: 5 });
  }

  async #send(method: string, params: object): Promise<Answer['result'] & object> {
    const id = ++this.#lastId;
    const answer = Promise.withResolvers<Answer>();
    this.#waiting.set(id, answer);
    this.#socket.send(JSON.stringify({ id, method, params }));
    const { error, message, result = {} } = await answer.promise;
    if (error !== undefined) throw new Error(`${method}: ${error}, ${message}`);
    return result;
  }

  #receive(message: Answer): void {
    if (message.id !== undefined) this.#waiting.get(message.id)?.resolve(message);
    else if (message.params?.level === 'error' && !LEFT.test(message.params.text ?? ''))
      this.complaints.push(message.params.text ?? 'an error');
  }
}

/** A message of the browser, as far as it is used here. */
interface Answer {
  readonly id?: number;
  readonly error?: string;
  readonly message?: string;
  readonly result?: {
    readonly contexts?: readonly { readonly context: string }[];
    readonly result?: { readonly value?: unknown };
    readonly exceptionDetails?: { readonly text: string };
  };
  readonly params?: { readonly level?: string; readonly text?: string };
}

/** The address that Firefox prints. */
async function addressIn(output: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const part of output) {
    text += decoder.decode(part, { stream: true });
    const [, address] = /BiDi listening on (ws:\S+)/.exec(text) ?? [];
    if (address !== undefined) return address;
  }
  throw new Error(`Firefox did not start: ${text}`);
}
