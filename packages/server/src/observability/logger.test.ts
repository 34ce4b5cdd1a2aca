import { afterEach, expect, spyOn, test } from 'bun:test';
import { createLogger } from './logger.ts';

const out = spyOn(process.stdout, 'write');
const err = spyOn(process.stderr, 'write');

afterEach(() => {
  out.mockReset();
  err.mockReset();
});

/** The output of `write` with a logger, on standard output and standard error. */
function written(format: 'json' | 'pretty', write: (log: ReturnType<typeof createLogger>) => void) {
  out.mockImplementation(() => true);
  err.mockImplementation(() => true);
  write(createLogger({ level: 'info', format }));
  const text = (calls: readonly (readonly unknown[])[]) => calls.map(([line]) => String(line)).join('');
  return { out: text(out.mock.calls), err: text(err.mock.calls) };
}

test('writes one JSON object per line to standard output, from the configured level on', () => {
  const { out, err } = written('json', (log) => {
    log.debug('not this');
    log.info({ seq: 3 }, 'following');
  });
  expect(JSON.parse(out)).toEqual({ level: 'info', time: expect.any(String), seq: 3, msg: 'following' });
  expect(out).toEndWith('\n');
  expect(err).toBe('');
});

test('writes a short line to standard error for people, with details and cause', () => {
  const { out, err } = written('pretty', (log) => {
    log.warn({ attempts: 2, err: new Error('no route') }, 'unreachable');
  });
  expect(err).toMatch(/^\d\d:\d\d:\d\d warn {2}unreachable attempts=2 \(no route\)\n$/);
  expect(out).toBe('');
});

test.each(['json', 'pretty'] as const)('no secret passes, in %s', (format) => {
  const secrets = ['proj_live_abc123', 'hat_abc123', 'hss_abc123', 'hin_abc123', 'sesame'];
  const { out, err } = written(format, (log) => {
    log.info({ headers: { 'x-service-key': 'sesame', cookie: 'sesame' }, token: 'sesame' }, 'a request');
    log.info({ databaseUrl: 'sesame', options: { password: 'sesame' } }, 'settings');
    log.error({ err: new Error('postgres://ada:sesame@db/halyard refused hat_abc123') }, 'hss_abc123 failed');
    log.info(`keys proj_live_abc123 and hin_abc123`);
  });
  for (const secret of secrets) expect(out + err).not.toContain(secret);
  expect(out + err).toContain('[redacted]');
  expect(out + err).toContain('postgres://ada:[redacted]@db/halyard');
});
