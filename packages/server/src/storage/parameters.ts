import { ServiceError } from '../domain/service-error.ts';
import type { Parameter } from './database.ts';

/**
 * Refuses texts with the character U+0000, which PostgreSQL cannot hold, so that both engines hold the same texts.
 * JSON is not affected: there the character is written as an escape. `invalid_argument`.
 */
export function checkTexts(parameters: readonly Parameter[]): void {
  if (!parameters.some((parameter) => typeof parameter === 'string' && parameter.includes('\0'))) return;
  throw new ServiceError(
    'invalid_argument',
    'A text holds the character U+0000, which no name or text here may: leave it out.',
  );
}
