import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { resolveSettings } from './config.ts';
import {
  describeUnknownVariables,
  formatSettings,
  redactSettings,
  settingsAsMarkdown,
} from './describe-settings.ts';
import { flagOf, SETTING_NAMES, SETTINGS, variableOf } from './settings.ts';

const GUIDE = join(import.meta.dir, '../../../../docs/operations/settings.md');

test('the page of settings holds the table of all settings, as the program has them', async () => {
  expect(await Bun.file(GUIDE).text()).toContain(settingsAsMarkdown());
});

test('each setting has one flag and one variable of the same name', () => {
  expect(flagOf('maxStreamsPerKey')).toBe('--max-streams-per-key');
  expect(variableOf('maxStreamsPerKey')).toBe('HALYARD_MAX_STREAMS_PER_KEY');
  expect(new Set(SETTING_NAMES.map(variableOf)).size).toBe(SETTING_NAMES.length);
});

test('each setting is described in one sentence', () => {
  for (const name of SETTING_NAMES) expect(SETTINGS[name].sentence).toMatch(/^[A-Za-z].*\.$/);
});

describe('an unknown variable', () => {
  test('is reported with the nearest known name', () => {
    expect(describeUnknownVariables({ HALYARD_PROT: '1', HALYARD_LOGLEVEL: 'x' })).toEqual([
      'Unknown setting HALYARD_LOGLEVEL (ignored). Did you mean HALYARD_LOG_LEVEL?',
      'Unknown setting HALYARD_PROT (ignored). Did you mean HALYARD_PORT?',
    ]);
  });

  test('gets no suggestion when none is near', () => {
    expect(describeUnknownVariables({ HALYARD_ZZZZZZZZZZZZ: '1' })).toEqual([
      'Unknown setting HALYARD_ZZZZZZZZZZZZ (ignored).',
    ]);
  });

  test('does not include known variables and those of other programs', () => {
    const env = {
      HALYARD_PORT: '1',
      HALYARD_URL: 'x',
      HALYARD_TOKEN_FILE: 'x',
      HALYARD_KEY: 'x',
      HALYARD_ENVIRONMENT: 'x',
      HALYARD_ADMIN_TOKEN_FILE: 'x',
      PORT: '1',
    };
    expect(describeUnknownVariables(env)).toEqual([]);
  });
});

describe('the settings in effect', () => {
  const { settings } = resolveSettings({
    flags: { port: '8000' },
    env: {
      HALYARD_DATABASE_URL: 'postgres://u:hunter2@db/x',
      HALYARD_ADMIN_TOKEN: 'hunter2-hunter2-hunter2',
    },
  });

  test('are listed with their origins', () => {
    const lines = formatSettings(settings).split('\n');
    expect(lines[0]).toMatch(/^port +8000 +\(--port\)$/);
    expect(lines[1]).toMatch(/^host +127\.0\.0\.1$/);
    expect(lines).toHaveLength(SETTING_NAMES.length + 1);
  });

  test('never show a secret', () => {
    expect(formatSettings(settings)).not.toContain('hunter2');
    expect(JSON.stringify(redactSettings(settings))).not.toContain('hunter2');
    expect(redactSettings(settings)).toMatchObject({
      databaseUrl: { value: '[redacted]' },
      adminToken: { value: '[redacted]' },
    });
  });

  test('are also listed as JSON with their origins', () => {
    expect(redactSettings(settings)).toMatchObject({
      port: { value: 8000, origin: '--port' },
      host: { value: '127.0.0.1', origin: 'default' },
      adminToken: { origin: 'HALYARD_ADMIN_TOKEN' },
    });
  });
});
