import { expect, test } from 'bun:test';
import { sourceFiles } from '@halyard/testing';

/** What opens a connection, or asks for an address. */
const OUTGOING =
  /(?<![\w.#])fetch\(|S3Client\(|new pg\.(?:Client|Pool)|from 'node:(?:https?|http2|tls|dns|dgram)|Bun\.(?:connect|udpSocket|dns)|new WebSocket/;

/** Each file that does so, and what names the address: a setting, or a record that a person made. */
const ADDRESSES: Readonly<Record<string, string>> = {
  'cli/api-client.ts': 'HALYARD_URL, of commands',
  'cli/doctor.ts': 'HALYARD_URL, of commands',
  'evaluation/log/remote-log.ts': 'HALYARD_UPSTREAM, of relays',
  'http/forwarding.ts': 'the supervisor of the same machine, for workers',
  'http/guarded-post.ts': 'the address of a webhook',
  'nouns/publishing/object-storage.ts': 'HALYARD_PUBLISH_URL',
  'nouns/sso/identity-provider.ts': 'HALYARD_OIDC_ISSUER',
  'storage/engines/postgres.ts': 'HALYARD_DATABASE_URL',
};

test('nothing connects anywhere but to an address that an operator has set', async () => {
  const found: string[] = [];
  for await (const [file, text] of sourceFiles(import.meta.dir))
    if (!/(?:^|\/)test-|\.test\.ts$/.test(file) && OUTGOING.test(text)) found.push(file);
  expect(found.toSorted()).toEqual(Object.keys(ADDRESSES));
});
