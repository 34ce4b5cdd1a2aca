import { REQUEST_ID_HEADER } from '@halyard/protocol';

const ACCEPTABLE = /^[A-Za-z0-9._:-]{1,64}$/;
const PROCESS = crypto.randomUUID().slice(0, 8);
let count = 0;

/** The request's own id where it brought an acceptable one, otherwise a new one that is unique among all nodes. */
export function requestIdOf(request: Request): string {
  const given = request.headers.get(REQUEST_ID_HEADER);
  return given !== null && ACCEPTABLE.test(given) ? given : `${PROCESS}-${(++count).toString(36)}`;
}
