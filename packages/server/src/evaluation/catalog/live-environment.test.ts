import { expect, test } from 'bun:test';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { until } from '@halyard/testing';
import type { StateText } from '../../domain/project.ts';
import { LiveEnvironment } from './live-environment.ts';

/** An environment whose map is too large to be compressed in the turn of a read. */
function largeEnvironment() {
  const environment = new LiveEnvironment({ id: 'e', projectId: 'p', name: 'production', revision: 0 });
  const states = Array.from(
    { length: 2000 },
    (_, index) => [`flag-${index}`, `{"enabled":true,"value":"text ${index}"}` as StateText] as const,
  );
  environment.apply(1, states);
  return environment;
}

const CODINGS = [
  ['zstd', zstdDecompressSync],
  ['gzip', gunzipSync],
] as const;

test.each(CODINGS)(
  'a large map is compressed with %s on another thread, and then kept',
  async (coding, decode) => {
    const environment = largeEnvironment();
    expect(environment.wholeCompressed(coding)).toBeUndefined();
    const made = await until('it is compressed', () => environment.wholeCompressed(coding));
    expect(decode(made.bytes).equals(environment.whole().bytes)).toBe(true);
    expect(made.etag).toBe(`${environment.whole().etag.slice(0, -1)}-${coding}"`);
    expect(environment.wholeCompressed(coding)).toBe(made);
  },
);

test.each(CODINGS)('what is compressed (%s) too late for its revision is dropped', async (coding, decode) => {
  const environment = largeEnvironment();
  for (let revision = 2; revision <= 20; revision++) {
    const form = environment.wholeCompressed(coding);
    if (form) expect(decode(form.bytes).equals(environment.whole().bytes)).toBe(true);
    environment.apply(revision, [['flag-0', `{"enabled":true,"value":${revision}}` as StateText]]);
    await new Promise((resolve) => setImmediate(resolve));
  }
  const { bytes } = await until('it is compressed', () => environment.wholeCompressed(coding));
  expect(decode(bytes).toString()).toContain('"flag-0":{"enabled":true,"value":20}');
});
