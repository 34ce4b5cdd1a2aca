import { ServiceError } from '../domain/errors.ts';
import type { Parameter } from './database.ts';

/**
 * Refuses texts that would not be read back as they were written: with the character U+0000, which PostgreSQL cannot
 * hold, or with half of a surrogate pair, which is no character and has no UTF-8. JSON is not affected: there both are
 * written as escapes. `invalid_argument`.
 */
export function checkTexts(parameters: readonly Parameter[]): void {
  for (const parameter of parameters) {
    if (typeof parameter !== 'string') continue;
    if (parameter.includes('\0')) throw unfit('the character U+0000');
    if (!parameter.isWellFormed()) throw unfit('half of a surrogate pair, as "\\ud800"');
  }
}

function unfit(what: string): ServiceError {
  return new ServiceError(
    'invalid_argument',
    `A text holds ${what}, which no name or text here may: leave it out.`,
  );
}
