import { ServiceError } from '../../domain/errors.ts';
import { invalid } from '../../domain/strict-members.ts';

/** What a password must be, in characters. */
export const PASSWORD_LENGTH = { least: 12, most: 200 } as const;

/** Argon2id with 19 MiB and two rounds: what OWASP asks for at least. `memoryCost` in KiB. */
const ARGON2: Bun.Password.Argon2Algorithm = { algorithm: 'argon2id', memoryCost: 19_456, timeCost: 2 };

/** The hash of a password that nobody knows, so that an unknown account takes as long to refuse as a known one. */
const NOBODY =
  '$argon2id$v=19$m=19456,t=2,p=1$ue0gzMDb8IHlV9UnX/05Ix6gcaE6ux5nZ1/ESLbE+64$9FVwptajI9wujesh7y6KMAiT6x2Pl2L0pU0fKqNteuU';

/** Hashes at once, and how many may wait: more would take memory and processors away from the readers of flags. */
const LIMITS = { running: 2, waiting: 30 } as const;

/** Attempts at once: as many as there are places for their hashes. */
const MAX_ATTEMPTS = LIMITS.running + LIMITS.waiting;

/** Hashes and checks passwords, a few at a time. When too many wait, `rate_limited`. */
export class PasswordHashes {
  #running = 0;
  #attempts = 0;
  readonly #waiting: (() => void)[] = [];

  /** The hash to keep of a password. */
  hash(password: string): Promise<string> {
    return this.#inTurn(() => Bun.password.hash(prepare(password), ARGON2));
  }

  /** Whether the password is the one of this hash. Without a hash it takes as long, and is not. */
  async verify(password: string, hash: string | undefined): Promise<boolean> {
    const isRight = await this.#inTurn(() => Bun.password.verify(prepare(password), hash ?? NOBODY));
    return isRight && hash !== undefined;
  }

  /**
   * Does work that checks a password, while there is a place for its hash; `rate_limited` at once when there is none, so
   * that the work does not write to the database for an attempt that cannot be made.
   */
  async admit<T>(work: () => Promise<T>): Promise<T> {
    if (this.#attempts >= MAX_ATTEMPTS || this.#waiting.length >= LIMITS.waiting) throw tooMany();
    this.#attempts++;
    try {
      return await work();
    } finally {
      this.#attempts--;
    }
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    await this.#takeTurn();
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      // The turn goes on to whoever waits longest; only when nobody does is it given back.
      if (next === undefined) this.#running--;
      else next();
    }
  }

  #takeTurn(): Promise<void> | void {
    if (this.#running < LIMITS.running) {
      this.#running++;
      return;
    }
    if (this.#waiting.length >= LIMITS.waiting) throw tooMany();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}

function tooMany(): ServiceError {
  return new ServiceError('rate_limited', 'Too many people sign in at this moment: try again shortly.', {
    retryAfterSeconds: 5,
  });
}

/** Refuses a password that is too short, too long, or the e-mail. `invalid_argument`; the text is never repeated. */
export function checkPassword(password: string, email: string): void {
  const { least, most } = PASSWORD_LENGTH;
  if (password.length < least || password.length > most) {
    throw invalid(`The password must have ${least} to ${most} characters.`);
  }
  if (password.trim().toLowerCase() === email) throw invalid('The password must be another than the e-mail.');
}

/** One form for texts that look the same: keyboards compose letters differently. */
function prepare(password: string): string {
  return password.normalize('NFC');
}
