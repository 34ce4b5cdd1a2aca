import { readSecretFile } from '../config/config.ts';
import type { RelayConfig } from '../config/relay-config.ts';
import { secretText } from '../config/setting-readers.ts';

/** How often the file is looked at, in milliseconds. */
const EVERY_MS = 2000;

/**
 * The relay token, also after its file was replaced. The file is read again and again, because what replaces it may be a link in a
 * folder above, as with secrets of Kubernetes, of which a watcher of the file learns nothing. (Spec: S14.18)
 */
export class RelayTokenFile {
  #token: string;
  readonly #path: string | undefined;
  #timer: Timer | undefined;

  constructor({ relayToken, relayTokenFile }: Pick<RelayConfig, 'relayToken' | 'relayTokenFile'>) {
    this.#token = relayToken;
    this.#path = relayTokenFile;
  }

  /** The token now. A file that is missing, empty or half written changes nothing. */
  read(): string {
    const text = this.#path === undefined ? undefined : readSecretFile(this.#path);
    this.#token = (text && secretText.read(text)) ?? this.#token;
    return this.#token;
  }

  /** Calls `onLook` again and again, when the file may have changed, until {@link close}. */
  watch(onLook: () => void, everyMs = EVERY_MS): void {
    if (this.#path === undefined) return;
    this.#timer = setInterval(onLook, everyMs);
    this.#timer.unref();
  }

  /** Safe to call twice. */
  close(): void {
    clearInterval(this.#timer);
  }
}
