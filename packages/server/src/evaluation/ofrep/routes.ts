import {
  ENVIRONMENT_HEADER,
  evaluateOfrep,
  MAX_OFREP_BYTES,
  OFREP_ERROR_STATUS,
  parseOfrepRequest,
} from '@halyard/protocol';
import type { BunRequest } from 'bun';
import type { Routes } from '../../http/listener.ts';
import { readBody } from '../../http/request.ts';
import type { KeyEntry } from '../catalog/key-index.ts';
import type { LiveEnvironment } from '../catalog/live-environment.ts';
import { authenticate, checkEscapes, factsOf, findAgain, openEnvironment } from '../serving/access.ts';
import { representationAnswer, withFacts } from '../serving/answers.ts';
import type { EvaluationContext } from '../serving/context.ts';
import { endpoint, unknownPath } from '../serving/endpoint.ts';
import { MANIFEST_DIALECT, OFREP_DIALECT, OfrepRefusal } from './dialect.ts';
import { EvaluatedEnvironment } from './evaluations.ts';
import { eventRevision, eventStreams, openEventStream, WAIT_SECONDS, waitForRevision } from './stream.ts';

/** Where the routes are: on their own, with the environment in a header, or below one environment. */
const PREFIXES = ['', '/environments/:environment'] as const;

/** The environment that a request asks, and the key with which it does. */
interface Place {
  readonly key: KeyEntry;
  readonly environment: LiveEnvironment;
}

/** What a request asks. */
interface Question extends Place {
  readonly targetingKey: string | undefined;
}

/** The routes of OFREP, the OpenFeature Remote Evaluation Protocol. (Spec: S15) */
export function ofrepRoutes(evaluation: EvaluationContext): Routes {
  const context = { ...evaluation, dialect: OFREP_DIALECT };
  const manifestContext = { ...evaluation, dialect: MANIFEST_DIALECT };
  const evaluated = new WeakMap<LiveEnvironment, EvaluatedEnvironment>();
  // `Routes`: `Bun.serve` sends each route only the requests of its path.
  return Object.assign({}, ...PREFIXES.map(routesBelow)) as Routes;

  function routesBelow(prefix: (typeof PREFIXES)[number]): object {
    return {
      [`${prefix}/ofrep/v1/evaluate/flags`]: endpoint<FlagPath>(context, {
        POST: { operation: 'ofrep-bulk', handler: evaluateAll },
      }),
      [`${prefix}/ofrep/v1/evaluate/flags/:key`]: endpoint<FlagPath>(context, {
        POST: { operation: 'ofrep-single', handler: evaluateOne },
      }),
      [`${prefix}/ofrep/v1/stream`]: endpoint<FlagPath>(context, {
        GET: { operation: 'ofrep-stream', handler: openEventStream(context) },
      }),
      [`${prefix}/openfeature/v0/manifest`]: endpoint<FlagPath>(manifestContext, {
        GET: { operation: 'manifest', handler: readManifest },
      }),
      [`${prefix}/ofrep/*`]: unknownPath(context),
      [`${prefix}/openfeature/*`]: unknownPath(manifestContext),
    };
  }

  function evaluateAll(request: BunRequest<FlagPath>, requestId: string): Promise<Response> {
    return ask(request, async ({ targetingKey, ...place }) => {
      const revision = eventRevision(request);
      const { environment, key } = await placeAt(revision, request, place);
      const streams = eventStreams(context, request, { environment, key });
      const bulk = evaluationsOf(environment).bulk(targetingKey, streams);
      const facts = factsOf(context, requestId);
      const { staleSeconds = environment.revision < revision ? WAIT_SECONDS : undefined } = facts;
      return bulk.respond(request, { ...facts, staleSeconds });
    });
  }

  function evaluateOne(request: BunRequest<FlagPath>, requestId: string): Promise<Response> {
    return ask(request, ({ environment, targetingKey }) => {
      const flagKey = request.params.key;
      checkEscapes(request, flagKey);
      const evaluations = evaluationsOf(environment);
      const answer = evaluations.flag(flagKey)?.answer(targetingKey);
      const headers = withFacts(evaluations.headers, factsOf(context, requestId));
      if (answer === undefined) {
        const missing = evaluateOfrep(flagKey, undefined, { environment: environment.name, targetingKey });
        return new Response(JSON.stringify(missing), { status: OFREP_ERROR_STATUS.FLAG_NOT_FOUND, headers });
      }
      if (answer.variant !== undefined) {
        if (environment.wantsUsage) context.usage.addRead(environment.id, flagKey, answer.variant);
        return new Response(answer.bytes, { headers });
      }
      return new Response(answer.bytes, { status: OFREP_ERROR_STATUS.TARGETING_KEY_MISSING, headers });
    });
  }

  function readManifest(request: BunRequest<FlagPath>, requestId: string): Response {
    const key = authenticate(manifestContext, request);
    const environment = openEnvironment(manifestContext, key, environmentName(request, key));
    const manifest = evaluationsOf(environment).manifest();
    return representationAnswer(request, manifest, factsOf(context, requestId));
  }

  /** Reads a question and answers it. No async function: on this path, each one is a few per cent of the whole. */
  function ask(
    request: BunRequest<FlagPath>,
    answer: (question: Question) => Response | Promise<Response>,
  ): Promise<Response> {
    const caller = authenticate(context, request);
    return readBody(request, MAX_OFREP_BYTES).then((body) => {
      const key = findAgain(context, caller);
      const parsed = parseOfrepRequest(body);
      if (!parsed.ok) throw new OfrepRefusal(parsed.errorCode, parsed.errorDetails);
      const environment = openEnvironment(context, key, environmentName(request, key));
      return answer({ key, environment, targetingKey: parsed.targetingKey });
    });
  }

  /** The key of a request and the environment that it asks, once that has the revision of the event behind the request. */
  async function placeAt(revision: number, request: BunRequest<FlagPath>, place: Place): Promise<Place> {
    if (place.environment.revision >= revision) return place;
    await waitForRevision(context, place.environment, revision);
    // Waiting may take long: the key must still be live now, and the environment be there.
    const key = findAgain(context, place.key);
    return { key, environment: openEnvironment(context, key, environmentName(request, key)) };
  }

  function evaluationsOf(environment: LiveEnvironment): EvaluatedEnvironment {
    const known = evaluated.get(environment);
    if (known !== undefined) return known;
    const made = new EvaluatedEnvironment(environment);
    evaluated.set(environment, made);
    return made;
  }
}

/** The longest of the paths, so that its parameters are those of all. */
type FlagPath = '/environments/:environment/ofrep/v1/evaluate/flags/:key';

/** The environment that a request names in its address or else in a header, or the only one that its key opens. */
function environmentName(request: BunRequest<FlagPath>, key: KeyEntry): string {
  const { environment = request.headers.get(ENVIRONMENT_HEADER) ?? '' }: { environment?: string } =
    request.params;
  checkEscapes(request, environment);
  if (environment !== '') return environment;
  const [only = '', another] = key.environments;
  if (another === undefined) return only;
  throw new OfrepRefusal(
    'GENERAL',
    `Which environment? Put it into the base address (/environments/<name>) or into the header ${ENVIRONMENT_HEADER}.`,
  );
}
