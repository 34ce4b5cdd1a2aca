import {
  defined,
  ENVIRONMENT_HEADER,
  ERROR_STATUS,
  type ErrorBody,
  type OfrepErrorCode,
  REQUEST_ID_HEADER,
} from '@halyard/protocol';
import { ServiceError } from '../../domain/errors.ts';
import { errorResponse } from '../../http/errors.ts';
import type { Dialect } from '../serving/context.ts';
import { KEY_HEADERS, KEY_PLACES, keyInAnyHeader } from '../serving/key-headers.ts';

/** The headers by which an answer may differ. */
export const VARY = `${KEY_HEADERS.join(', ')}, ${ENVIRONMENT_HEADER}`;

/** A refusal with an OpenFeature error code of its own. */
export class OfrepRefusal extends ServiceError {
  readonly errorCode: OfrepErrorCode;

  constructor(errorCode: OfrepErrorCode, message: string) {
    super('invalid_argument', message);
    this.errorCode = errorCode;
  }
}

/** How OFREP's routes take keys, and how they refuse. */
export const OFREP_DIALECT: Dialect = {
  keyOf: keyInAnyHeader,
  keyPlaces: KEY_PLACES,
  requestHeaders: [
    ...KEY_HEADERS,
    ENVIRONMENT_HEADER,
    'Content-Type',
    'If-None-Match',
    REQUEST_ID_HEADER,
    'Last-Event-ID',
  ],
  refuse: (error, context, request) =>
    errorResponse(error, context, (refusal, ours) => failureBody(refusal, ours, flagKeyOf(request))),
};

/** As on OFREP's routes, but for errors, which have the form that OpenFeature's CLI reads. */
export const MANIFEST_DIALECT: Dialect = {
  ...OFREP_DIALECT,
  refuse: (error, context) =>
    errorResponse(error, context, ({ code, message }, { docs }) => ({
      error: { message, status: ERROR_STATUS[code], code, docs },
    })),
};

/** OFREP's form of a refusal; one that does not concern a flag or the context also has the members of every error. */
function failureBody(error: ServiceError, ours: ErrorBody, key: string | undefined): object {
  const isInvalid = error.code === 'invalid_argument';
  const unnamed = isInvalid ? 'PARSE_ERROR' : 'GENERAL';
  const errorCode = error instanceof OfrepRefusal ? error.errorCode : unnamed;
  const failure = defined({ key, errorCode, errorDetails: error.message });
  return isInvalid ? failure : { ...failure, ...ours };
}

/** The flag key in the path of a request for one flag. */
function flagKeyOf(request: Request): string | undefined {
  return 'params' in request ? (request.params as { readonly key?: string }).key : undefined;
}
