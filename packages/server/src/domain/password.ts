import list from './common-passwords.txt' with { type: 'text' };

/** The length of a password, in characters. */
export const PASSWORD_LENGTH = { least: 12, most: 200 } as const;

/** Fewer different characters are too easy to guess. */
const LEAST_CHARACTERS = 5;

/** The longest text that counts as repeated, in characters. */
const LONGEST_UNIT = 6;

const LONGEST_WORD = 11;

const common = new Set(list.split('\n').filter((line) => line !== '' && !line.startsWith('#')));

/** Why a password is refused, as the end of a sentence that begins with "The password"; `undefined` if it is accepted. */
export function passwordProblem(password: string): string | undefined {
  const { least, most } = PASSWORD_LENGTH;
  if (password.length < least || password.length > most) return `must have ${least} to ${most} characters`;
  return isCommon(password.toLowerCase())
    ? 'is one of the first that an attacker tries: choose one that is not common, repeated or in a row'
    : undefined;
}

function isCommon(password: string): boolean {
  const withoutTail = password.replace(/[^a-z]+$/, '');
  return (
    common.has(password) ||
    new Set(password).size < LEAST_CHARACTERS ||
    isRepeated(password) ||
    isRow(password) ||
    isOfWords(withoutTail)
  );
}

/** Whether it is a short text, again and again. */
function isRepeated(password: string): boolean {
  for (let unit = 1; unit <= LONGEST_UNIT; unit++) {
    if (password.startsWith(password.slice(unit))) return true;
  }
  return false;
}

/** Whether it counts up or down, as in `abcdefghijkl` or `901234567890`. */
function isRow(password: string): boolean {
  const steps = new Set<number>();
  for (let index = 1; index < password.length; index++) {
    steps.add(password.charCodeAt(index) - password.charCodeAt(index - 1));
  }
  return steps.size <= 2;
}

/** Whether it consists of common passwords: `password`, or `letmein` twice. */
function isOfWords(text: string): boolean {
  const ends = new Set([0]);
  // A set visits what is added on the way: each place where a word may begin.
  for (const start of ends) {
    for (let end = start + 1; end <= start + LONGEST_WORD && end <= text.length; end++) {
      if (common.has(text.slice(start, end))) ends.add(end);
    }
  }
  return text !== '' && ends.has(text.length);
}
