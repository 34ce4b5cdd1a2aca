import { SERVICE_KEY_HEADER } from '@halyard/protocol';
import { bearerTokenIn } from '../../http/request.ts';

/** The header in which most OpenFeature providers send a key. */
const API_KEY_HEADER = 'X-API-Key';

/** The headers in which programs that were not made for this service send a key. (Spec: S15.2) */
export const KEY_HEADERS = [SERVICE_KEY_HEADER, API_KEY_HEADER, 'Authorization'] as const;

/** The same, for messages. */
export const KEY_PLACES = `${SERVICE_KEY_HEADER}, ${API_KEY_HEADER} or Authorization: Bearer. Headers that carry a key must all carry the same one`;

/** The project key from any of {@link KEY_HEADERS}; `null` without one, or when two of them disagree. */
export function keyInAnyHeader({ headers }: Request): string | null {
  const ours = headers.get(SERVICE_KEY_HEADER);
  const apiKey = headers.get(API_KEY_HEADER);
  const bearer = bearerTokenIn(headers.get('Authorization')) ?? null;
  const key = ours ?? apiKey ?? bearer;
  return [ours, apiKey, bearer].every((each) => each === null || each === key) ? key : null;
}
