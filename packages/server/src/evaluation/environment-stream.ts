import { environmentNotFound, logIsLost, projectNotFound } from '../domain/errors.ts';
import type { Freshness, OpenStream } from '../domain/read-side.ts';
import type { OpenFiles } from '../http/open-files.ts';
import { requestIdOf } from '../http/request.ts';
import type { Catalog } from './catalog/catalog.ts';
import { streamAnswer } from './serving/answers.ts';
import type { Hub } from './streaming/hub.ts';

/** The parts of a node that open streams. */
export interface StreamParts {
  readonly catalog: Catalog;
  readonly hub: Hub;
  readonly freshness: Freshness;
  readonly files: Pick<OpenFiles, 'admitStream'>;
}

/** Streams of environments for people and tokens: the same frames as on `/v1/stream`. */
export function environmentStreams({ catalog, hub, freshness, files }: StreamParts): OpenStream {
  return (projectName, environmentName, { request, stillValid, projectId: only }) => {
    // First, because a node that is behind may not know the project yet.
    if (!freshness.canStream()) throw logIsLost();
    const projectId = catalog.projectId(projectName);
    if (projectId === undefined || projectId !== (only ?? projectId)) throw projectNotFound(projectName);
    const environment = catalog.environment(projectId, environmentName);
    if (environment === undefined) throw environmentNotFound(environmentName);
    files.admitStream();
    const { revision } = environment;
    const facts = { requestId: requestIdOf(request), staleSeconds: undefined };
    return streamAnswer(hub.open(environment, undefined, stillValid), revision, facts);
  };
}
