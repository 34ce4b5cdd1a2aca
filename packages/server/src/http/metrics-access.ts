import { isSameSecret } from '../domain/secret.ts';

/** Answers who asks for the metrics. With a token, only whoever sends it as a bearer token. */
export function guardMetrics(
  token: string | undefined,
  scrape: () => Promise<Response>,
): (request: Request) => Response | Promise<Response> {
  return (request) => {
    const presented = request.headers.get('Authorization') ?? '';
    if (token === undefined || isSameSecret(presented, `Bearer ${token}`)) return scrape();
    return new Response('The metrics need a token: send it as a bearer token.\n', { status: 401 });
  };
}
